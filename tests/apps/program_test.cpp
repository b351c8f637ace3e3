// The ends of all programs from outside: help, versions, exit codes, standard output, unusual surroundings.
#include <catch2/catch.hpp>

#include <filesystem>

#include "support/runs.h"

using namespace fcam::test;

namespace {

const std::vector<std::string> programs{"fcam-train", "fcam-evaluate", "fcam-mosaic",     "fcam-bench",
                                        "fcam-flow",  "fcam-report",   "fcam-fixed-focus"};

// Columns of the widest line.
std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : split(text, '\n')) width = std::max(width, line.size());
  return width;
}

bool is_empty(const TemporaryFolder& folder) { return std::filesystem::is_empty(folder.path()); }

}  // namespace

TEST_CASE("--help prints on stdout what fits 80 columns, without double blank lines", "[program]") {
  const TemporaryFolder folder;
  for (const std::string& program : programs) {
    for (const char* option : {" --help", " -h"}) {
      const Result result = run(command(folder, program + option));
      INFO(program << "\n" << result.out);
      CHECK(result.code == 0);
      CHECK(result.err.empty());
      CHECK_THAT(result.out, Catch::Contains("Usage: " + program) && Catch::Contains("--seed N") &&
                                 Catch::Contains("--config FILE") && Catch::Contains("Examples:"));
      CHECK(width_of(result.out) <= 80);
      CHECK_THAT(result.out, !Catch::Contains("\n\n\n"));
      CHECK_THAT(result.out, !Catch::EndsWith("\n\n"));
      CHECK_THAT(result.out, Catch::EndsWith("\n"));
    }
  }
}

TEST_CASE("--version prints program, compiler, xtensor and BLAS with its kernel on stdout", "[program]") {
  const TemporaryFolder folder;
  for (const std::string& program : programs) {
    const Result result = run(command(folder, program + " --version"));
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, Catch::StartsWith(program + " 0.") && Catch::Contains("compiler: ") &&
                               Catch::Contains("xtensor: 0.") && Catch::Contains("OpenBLAS") &&
                               Catch::Contains("\nconvolution kernels: "));
  }
}

TEST_CASE("help wins over whatever else stands on the command line", "[program]") {
  const TemporaryFolder folder;
  for (const char* rest : {"--epochs nonsense --help", "--no-such-option --help", "--dry-run -h", "--help --version"}) {
    const Result result = run(command(folder, std::string("fcam-train ") + rest));
    INFO(rest);
    CHECK(result.code == 0);
    CHECK_THAT(result.out, Catch::Contains("Usage: fcam-train"));
  }
  CHECK(is_empty(folder));
}

TEST_CASE("an unknown option is one line on stderr with the nearest name and exit code 2", "[program]") {
  const TemporaryFolder folder;
  for (const std::string& program : programs) {
    const std::string error = error_of(command(folder, program + " --sed 3"), 2);
    CHECK_THAT(error, Catch::StartsWith(program + ": error: option: expected one of ") &&
                          Catch::Contains("found '--sed' (nearest: --seed)"));
  }
  CHECK(is_empty(folder));
}

TEST_CASE("names that do not exist are refused with those that do and the nearest", "[program]") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& options) { return error_of(command(folder, "fcam-train " + options), 2); };
  using Catch::Contains;
  CHECK_THAT(error("--data shapes --loss sq"),
             Contains("loss: expected one of sa, ha, lv, hybrid,") && Contains("found 'sq' (nearest: sa)"));
  CHECK_THAT(error("--loss Hard"), Contains("loss: expected one of sa, ha, lv, hybrid,") && Contains("found 'Hard'"));
  CHECK_THAT(error("--data shaps"),
             Contains("data: expected one of fashion-mnist, mnist") && Contains("found 'shaps' (nearest: shapes)"));
  CHECK_THAT(error("--data shapes --focus papre"), Contains("focus") && Contains("paper, lenet, small, mlp, linear") &&
                                                       Contains("found 'papre' (nearest: paper)"));
  CHECK_THAT(error("--data shapes --foreground disc"),
             Contains("disk, ring, square") && Contains("found 'disc' (nearest: disk)"));
  CHECK_THAT(error("--data shapes --background 10"), Contains("disk, ring, square") && Contains("'10'"));
  CHECK_THAT(error("--data shapes --draws numppy"), Contains("keyed, numpy") && Contains("(nearest: numpy)"));
  CHECK_THAT(error("--data shapes --optimizer adma"), Contains("sgd, adam") && Contains("(nearest: adam)"));
  CHECK(is_empty(folder));
}

TEST_CASE("what cannot be is refused before anything is written", "[program]") {
  const TemporaryFolder folder;
  for (const char* options : {"--epochs 0",
                              "--epochs -3",
                              "--epochs 1e3",
                              "--batch 0",
                              "--patches 0",
                              "--threads 0",
                              "--threads 1025",
                              "--lr nan",
                              "--lr -0.1",
                              "--lr inf",
                              "--momentum 1",
                              "--momentum 1.5",
                              "--seed 18446744073709551616",
                              "--seed -1",
                              "--foreground 0,0",
                              "--foreground 0 --background 0",
                              "--data shapes:folder",
                              "--focus conv32k99 --data shapes",
                              "--resume --force",
                              "--loss sa --loss ha",
                              "stray"}) {
    INFO(options);
    const std::string data = std::string(options).find("--data") == std::string::npos ? " --data shapes " : " ";
    CHECK_THAT(error_of(command(folder, "fcam-train --out run" + data + options), 2),
               Catch::StartsWith("fcam-train: error: "));
  }
  CHECK(is_empty(folder));
}

TEST_CASE("data that are not there are exit code 3 and name the place", "[program]") {
  const TemporaryFolder folder;
  for (const std::string program : {"fcam-train", "fcam-mosaic"}) {
    for (const std::string kind : {"mnist", "fashion-mnist", "cifar10", "cifar100", "npy"}) {
      CHECK_THAT(error_of(command(folder, program + " --data " + kind + ":none"), 3), Catch::Contains("none"));
    }
  }
  CHECK_THAT(error_of(command(folder, "fcam-train --data mnist"), 2), Catch::Contains("mnist:FOLDER"));
  CHECK_THAT(error_of(command(folder, "fcam-train --data npy:"), 2), Catch::Contains("npy"));
}

TEST_CASE("standard output that is full is exit code 4 with a reason", "[program]") {
  const TemporaryFolder folder;
  for (const std::string options : {"fcam-train --help", "fcam-train --dry-run --data shapes", "fcam-mosaic --version",
                                    "fcam-mosaic --data shapes --show 3000"}) {
    Command full = command(folder, options);
    full.stdout_file = "/dev/full";
    INFO(options);
    CHECK_THAT(error_of(full, 4), Catch::Contains("error: standard output: "));
  }
}

TEST_CASE("the reason why standard output failed is told, whenever it did", "[program]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  for (const std::string options :
       {"fcam-evaluate run", "fcam-mosaic --data shapes", "fcam-mosaic --data shapes --show 3000",
        "fcam-flow --points 2", "fcam-train --dry-run --data shapes", "fcam-train --help"}) {
    Command full = command(folder, options);
    full.stdout_file = "/dev/full";
    INFO(options);
    CHECK_THAT(error_of(full, 4), Catch::EndsWith("found: No space left on device\n"));
  }
}

TEST_CASE("standard output that is closed is exit code 4, and files get only what is theirs", "[program]") {
  const TemporaryFolder folder;
  Command closed = command(folder, "fcam-mosaic" + tiny_data() + "--csv rows.csv");
  closed.closed_stdout = closed.closed_stdin = true;
  CHECK_THAT(error_of(closed, 4), Catch::Contains("standard output"));
  CHECK(read_table(folder.file("rows.csv")).rows.size() == 200);
}

TEST_CASE("a pipe that nobody reads any more ends a program quietly", "[program]") {
  const TemporaryFolder folder;
  for (const char* count : {"1", "3000"}) {  // less and more than a buffer holds
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    Command command_line = command(folder, std::string("fcam-mosaic --data shapes --show ") + count);
    command_line.stdout_descriptor = ends[1];
    const Result result = run(command_line);
    close(ends[1]);
    CHECK(result.code == 4);
    CHECK(result.err.empty());
  }
}

TEST_CASE("a closed standard input does not matter", "[program]") {
  const TemporaryFolder folder;
  Command closed = training(folder, "--out run");
  closed.closed_stdin = true;
  CHECK(run(closed).code == 0);
  CHECK(std::filesystem::exists(folder.file("run/model.safetensors")));
}

TEST_CASE("the numbers of a seed reach to 64 bits", "[program]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out large --seed 18446744073709551615"));
  CHECK_THAT(read_file(folder.file("large/config.toml")), Catch::Contains("seed = 18446744073709551615\n"));
  CHECK(read_json(folder.file("large/summary.json"))["seed"] == 18446744073709551615u);
}

TEST_CASE("numbers are written alike whatever the locale", "[program]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out plain --lr 0.05"));
  run_well(command(folder, "fcam-evaluate plain --json plain.json --csv plain.csv --dump plain.dump"));
  // A locale with commas, where it can be made; others may be installed or not.
  const bool can_make =
      std::filesystem::exists("/usr/bin/localedef") && std::filesystem::exists("/usr/share/i18n/locales/de_DE");
  std::filesystem::create_directory(folder.file("locales"));
  if (can_make) {
    run_well({.arguments = {"/usr/bin/localedef", "-i", "de_DE", "-f", "UTF-8", folder.file("locales/de_DE.UTF-8")}});
  }
  for (const char* locale : {"de_DE.UTF-8", "C", "POSIX", "C.utf8", "no_SUCH"}) {
    const auto in_locale = [&](Command what) {
      what.environment = {{"LC_ALL", locale}, {"LANG", locale}, {"LC_NUMERIC", locale}};
      if (can_make) what.environment.emplace_back("LOCPATH", folder.file("locales"));
      run_well(what);
    };
    in_locale(training(folder, std::string("--lr 0.05 --out ") + locale));
    in_locale(command(folder, "fcam-evaluate plain --json e.json --csv e.csv --dump e.dump"));
    for (const std::string end : {".json", ".csv", ".dump"}) {
      CHECK(read_file(folder.file("e" + end)) == read_file(folder.file("plain" + end)));
    }
    const std::string run = folder.file(locale);
    CHECK(log_without_seconds(run + "/log.csv") == log_without_seconds(folder.file("plain/log.csv")));
    CHECK(read_file(run + "/config.toml") == read_file(folder.file("plain/config.toml")));
  }
}

TEST_CASE("sizes that do not fit into memory are a usage error", "[program]") {
  const TemporaryFolder folder;
  const std::string linear = "fcam-train --data linear --classes 1000000 --train 4000000000000000 --test 10 --out run";
  for (const std::string& line : {linear, std::string("fcam-mosaic --data linear --train 9000000000000000000")}) {
    CHECK_THAT(error_of(command(folder, line), 2), Catch::Contains("memory: expected sizes that fit into it"));
  }
  CHECK(is_empty(folder));
}

TEST_CASE("a table into a pipe that nobody reads any more ends quietly, too", "[program]") {
  const TemporaryFolder folder;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  Command command_line = command(folder, "fcam-mosaic --data shapes --csv -");
  command_line.stdout_descriptor = ends[1];
  const Result result = run(command_line);
  close(ends[1]);
  CHECK(result.code == 4);
  CHECK(result.err.empty());
}
