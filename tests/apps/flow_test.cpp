// fcam-flow from outside.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "support/golden.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  REQUIRE(lines.back().empty());
  lines.pop_back();
  return lines;
}

// The number after a word in a line.
double number_after(const std::string& line, const std::string& word) {
  const auto at = line.find(word + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(line.substr(at + word.size() + 1));
}

std::string message_of(const std::string& options, int code = 2) {
  const TemporaryFolder folder;
  const std::string message = error_of(command(folder, "fcam-flow " + options), code);
  CHECK(std::filesystem::is_empty(folder.path()));
  return message;
}

}  // namespace

TEST_CASE("the CSV of fcam-flow has the golden paths", "[flow]") {
  const TemporaryFolder folder;
  run_well(command(folder, "fcam-flow --patches 100 --classes 1000 --time 4e5 --points 401 --csv flow.csv"));
  const Table table = read_table(folder.file("flow.csv"));
  CHECK(table.header == std::vector<std::string>{"loss", "t", "mu", "nu", "alpha", "beta", "value"});
  REQUIRE(table.rows.size() == 3 * 401);
  CHECK(table.number(0, "value") == Approx(std::log(1000)));
  int compared = 0;
  for (const auto& expected : golden("gradient_flow.json")) {
    if (expected["m"] != 100) continue;
    for (std::size_t i = 0; i < expected["t"].size(); ++i) {
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (table.text(row, "loss") != expected["loss"] || table.number(row, "t") != expected["t"][i]) continue;
        CHECK(table.number(row, "mu") == Approx(expected["mu"][i].get<double>()).epsilon(1e-9));
        CHECK(table.number(row, "nu") == Approx(expected["nu"][i].get<double>()).epsilon(1e-9));
        CHECK(table.number(row, "alpha") == Approx(1 / (1 + 99 * std::exp(-table.number(row, "nu")))));
        CHECK(table.number(row, "beta") == Approx(1 / (1 + 999 * std::exp(-table.number(row, "mu")))));
        ++compared;
      }
    }
  }
  CHECK(compared == 12);
}

TEST_CASE("the last line of each loss accounts for steps and invariant", "[flow]") {
  const TemporaryFolder folder;
  const Result result = run_well(command(folder, "fcam-flow --loss lv,sa"));
  CHECK(result.err.empty());
  const auto lines = lines_of(result.out);
  REQUIRE(lines.size() == 4);
  for (const auto& [line, name] : {std::pair(lines[1], "lv: steps "), std::pair(lines[3], "sa: steps ")}) {
    CHECK_THAT(line, Catch::StartsWith(name));
    CHECK(number_after(line, "steps") > 20);
    CHECK(number_after(line, "rejected") >= 0);
    CHECK(number_after(line, "largest violation of the invariant") < 1e-8);
  }
  CHECK(number_after(lines[2], "mu") == Approx(6.314014).epsilon(1e-6));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("--log-time, --alpha and --mu, --nu do as they say", "[flow]") {
  const TemporaryFolder folder;
  run_well(command(folder, "fcam-flow --loss ha --alpha 0.4 --classes 3 --log-time --points 4 --csv fixed.csv"));
  const Table fixed = read_table(folder.file("fixed.csv"));
  const std::vector<double> expected{0.13037324032992187, 1.0586956693474159, 3.524895037352176, 5.96376562127399};
  for (std::size_t row = 0; row < 4; ++row) {
    CHECK(fixed.number(row, "t") == Approx(std::pow(10, row)));
    CHECK(fixed.number(row, "mu") == Approx(expected[row]).epsilon(1e-9));
    CHECK(fixed.text(row, "nu") == "0");
    CHECK(fixed.text(row, "alpha") == "0.4");
  }
  run_well(command(folder, "fcam-flow --loss lv --mu -3 --nu 2.5 --points 2 --csv start.csv"));
  const Table start = read_table(folder.file("start.csv"));
  CHECK(start.text(0, "mu") == "-3");
  CHECK(start.text(0, "nu") == "2.5");
}

TEST_CASE("--method euler takes steps of --dt and comes near", "[flow]") {
  const TemporaryFolder folder;
  const Result coarse = run_well(command(folder, "fcam-flow --loss ha --method euler --dt 0.5 --csv e.csv"));
  CHECK_THAT(coarse.out, Contains("ha: steps 2000, rejected 0"));
  CHECK(number_after(coarse.out, "largest violation of the invariant") > 1e-3);
  run_well(command(folder, "fcam-flow --loss ha --csv a.csv"));
  const double gap =
      read_table(folder.file("e.csv")).number(199, "mu") - read_table(folder.file("a.csv")).number(199, "mu");
  CHECK(std::abs(gap) > 1e-5);
  CHECK(std::abs(gap) < 1e-2);
}

TEST_CASE("--population is Euler's method on the flow, and nearer to it with smaller steps", "[flow]") {
  const TemporaryFolder folder;
  const auto gap = [&](const std::string& dt) {
    const auto lines =
        lines_of(run_well(command(folder, "fcam-flow --patches 4 --classes 3 --time 50 --population --dt " + dt)).out);
    REQUIRE(lines.size() == 9);
    double largest = 0;
    for (const std::size_t line : {1, 4, 7}) {
      CHECK(number_after(lines[line], "to Euler's method with these steps") < 1e-11);
      CHECK(number_after(lines[line], "of the weights to their shape") < 1e-11);
      largest = std::max(largest, number_after(lines[line], "largest gap to the flow"));
    }
    return largest;
  };
  const double coarse = gap("0.2"), fine = gap("0.1");
  CHECK(coarse < 0.05);
  CHECK(coarse / fine == Approx(2).epsilon(0.1));
}

TEST_CASE("--plot draws the paths in every format", "[flow]") {
  const TemporaryFolder folder;
  for (const std::string options : {"", " --log-time", " --alpha 0.3", " --loss lv --points 2", " --mu 5"}) {
    run_well(command(folder, "fcam-flow --plot a.svg" + options));
    const std::string svg = read_file(folder.file("a.svg"));
    CHECK_THAT(svg, Contains("logit gap") && Contains("marginal likelihood (LV)") && Contains("time"));
    CHECK((svg.find("focus gap") == std::string::npos) == (options == " --alpha 0.3"));
  }
  for (const std::string name : {"a.png", "a.pdf"}) {
    run_well(command(folder, "fcam-flow --plot " + name));
    CHECK(read_file(folder.file(name)).size() > 5000);
  }
}

TEST_CASE("a path that does not reach its end is exit code 5, and the CSV says so", "[flow]") {
  const TemporaryFolder folder;
  const Result result = run(command(folder, "fcam-flow --loss sa,lv --max-steps 10 --csv flow.csv --plot flow.svg"));
  CHECK(result.code == 5);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, Contains("fcam-flow: error: sa: expected to reach time 1000") && Contains("10 steps at time"));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(folder.file("flow.svg")));
  const auto lines = lines_of(read_file(folder.file("flow.csv")));
  CHECK(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("sa,"); }) > 2);
  CHECK(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("# sa: "); }) == 1);
  CHECK_THAT(lines.back(), Contains("# lv: expected to reach time 1000, found the limit of 10 steps"));
}

TEST_CASE("options of fcam-flow that make no sense are refused with their names", "[flow]") {
  for (const std::string options : {"--rtol 1e-30",
                                    "--rtol 0",
                                    "--rtol nan",
                                    "--rtol 0.1",
                                    "--time inf",
                                    "--time 0",
                                    "--time -1",
                                    "--time 1e301",
                                    "--points 1",
                                    "--patches 0",
                                    "--classes 1",
                                    "--alpha 1.01",
                                    "--alpha 0.5 --patches 1",
                                    "--max-steps 0",
                                    "--dt 0.1",
                                    "--mu nan",
                                    "--plot x.bmp",
                                    "--method rk4",
                                    "--loss sx",
                                    "--loss sa,SA"}) {
    CAPTURE(options);
    const std::string name = options.substr(2, options.find(' ') - 2);
    CHECK_THAT(message_of(options), Catch::StartsWith("fcam-flow: error: " + name + ": expected"));
  }
  CHECK_THAT(message_of("--method euler --dt 0"), Contains("dt: expected a number above 0"));
  CHECK_THAT(message_of("--method euler --dt 1e-300"), Contains("dt: expected a number above"));
  CHECK_THAT(message_of("--population --alpha 0.4"), Contains("alpha: expected none with --population"));
  CHECK_THAT(message_of("--population --dt 1e-9"), Contains("dt: expected one that makes at most"));
  CHECK_THAT(message_of("--population --patches 1000 --classes 1000"), Contains("population: expected at most"));
  CHECK_THAT(message_of("--loss sx"), Contains("expected one of sa, ha, lv, found 'sx' (nearest: sa)"));
}

TEST_CASE("a table or figure of fcam-flow that cannot be written is exit code 4", "[flow]") {
  const TemporaryFolder folder;
  for (const std::string option : {"--csv", "--plot"}) {
    const Result result = run(command(folder, "fcam-flow " + option + " none/x.svg"));
    CHECK(result.code == 4);
    CHECK_THAT(result.err, Contains("none/x.svg"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("fcam-flow refuses two outputs into one file, and tries both before it begins", "[flow]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(command(folder, "fcam-flow --csv a.svg --plot a.svg"), 2), Contains("a.svg"));
  CHECK_THAT(error_of(command(folder, "fcam-flow --csv nowhere/a.csv"), 4), Contains("nowhere/a.csv"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a limit on the size of files is an output that could not be written", "[flow]") {
  const TemporaryFolder folder;
  const char* bin = std::getenv("FCAM_BIN");
  const std::string program = std::filesystem::absolute(bin != nullptr ? bin : "build/bin").string() + "/fcam-flow";
  const Command limited{.arguments = {"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" --csv a.csv > /dev/null", program},
                        .folder = folder.path().string()};
  CHECK_THAT(error_of(limited, 4), Contains("a.csv"));
  CHECK(std::filesystem::is_empty(folder.path()));
}
