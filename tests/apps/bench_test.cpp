// fcam-bench from outside, on tiny steps.
#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <set>

#include "support/runs.h"

using namespace fcam::test;
using nlohmann::json;

namespace {

const std::string tiny_step =
    "fcam-bench --batch 8 --patches 2 --focus small --classify small --shape 1x16x16 --steps 2 ";

std::set<std::string> keys(const json& object) {
  std::set<std::string> result;
  for (const auto& item : object.items()) result.insert(item.key());
  return result;
}

}  // namespace

TEST_CASE("fcam-bench writes the parts of each step, which add up to it", "[bench]") {
  const TemporaryFolder folder;
  const Result result = run_well(command(folder, tiny_step + "--threads 2 --json bench.json --quiet"));
  CHECK(result.err.empty());
  for (const char* text : {"sgemm peak: ", "threads: 2", "median of 2 steps", "focus.conv1", "peak memory: "}) {
    CHECK_THAT(result.out, Catch::Contains(text));
  }
  const json report = read_json(folder.file("bench.json"));
  CHECK(keys(report) == std::set<std::string>{"threads", "isa", "peak_gflops", "steps"});
  CHECK(report["threads"] == 2);
  CHECK(report["peak_gflops"].get<double>() > 0);
  CHECK(keys(report["steps"]) == std::set<std::string>{"sa", "ha", "lv"});
  std::set<std::pair<std::string, std::string>> expected{{"data", ""}, {"optimizer", ""}, {"other", ""}};
  for (const std::string network : {"focus.", "classify."}) {
    for (const char* layer : {"conv1", "conv2", "fc1", "fc2"}) {
      for (const char* pass : {"forward", "backward"}) expected.emplace(network + layer, pass);
    }
  }
  for (const auto& [loss, step] : report["steps"].items()) {
    INFO(loss);
    CHECK(keys(step) == std::set<std::string>{"seconds", "gflops", "layers"});
    CHECK(step["gflops"].get<double>() > 0);
    std::set<std::pair<std::string, std::string>> found;
    double sum = 0;
    for (const json& part : step["layers"]) {
      INFO(part);
      CHECK(keys(part) == std::set<std::string>{"name", "pass", "seconds", "gflops"});
      CHECK(part["seconds"].get<double>() > 0);
      CHECK((part["gflops"].get<double>() > 0) == (part["pass"] != ""));
      sum += part["seconds"].get<double>();
      CHECK(found.emplace(part["name"], part["pass"]).second);
    }
    CHECK(found == expected);
    CHECK(sum == Approx(step["seconds"].get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("fcam-bench counts the operations of a dense computation", "[bench]") {
  const TemporaryFolder folder;
  const auto flops = [&](const std::string& loss) {
    run_well(command(folder,
                     "fcam-bench --shape 1x7x7 --batch 6 --patches 2 --steps 1 --quiet --json b.json --loss " + loss,
                     {"--focus", "conv4k2 relu pool2", "--classify", "conv4k2 relu pool2"}));
    std::map<std::string, double> result;
    const json report = read_json(folder.file("b.json"));
    for (const json& part : report["steps"][loss]["layers"]) {
      result[part["name"].get<std::string>() + " " + part["pass"].get<std::string>()] =
          part["seconds"].get<double>() * part["gflops"].get<double>() * 1e9;
    }
    return result;
  };
  // A convolution of one image: 6x6 places, 4 filters of 1x2x2; a score: 4x3x3 inputs.
  const double convolution = 2 * 36 * 4 * 4, score = 2 * 36;
  auto sa = flops("sa"), lv = flops("lv");
  CHECK(lv["focus.conv1 forward"] == Approx(12 * convolution));
  CHECK(lv["focus.conv1 backward"] == Approx(12 * convolution));  // no gradient of the patches
  CHECK(lv["classify.conv1 forward"] == Approx(12 * convolution));
  CHECK(lv["focus.fc1 forward"] == Approx(12 * score));
  CHECK(lv["focus.fc1 backward"] == Approx(2 * 12 * score));
  CHECK(lv["classify.fc1 forward"] == Approx(3 * 12 * score));
  CHECK(sa["classify.conv1 forward"] == Approx(6 * convolution));
  CHECK(sa["classify.conv1 backward"] == Approx(2 * 6 * convolution));  // and of the blend
}

TEST_CASE("fcam-bench times only the losses that are asked for", "[bench]") {
  const TemporaryFolder folder;
  const Result result = run_well(command(folder, tiny_step + "--loss lv,sa --json bench.json --quiet"));
  CHECK(keys(read_json(folder.file("bench.json"))["steps"]) == std::set<std::string>{"lv", "sa"});
  CHECK_THAT(result.out, !Catch::Contains("\nha "));
}

TEST_CASE("fcam-bench names the convolution kernels in use", "[bench]") {
  const TemporaryFolder folder;
  Command general = command(folder, tiny_step + "--loss sa --json bench.json --quiet");
  general.environment = {{"FCAM_ISA", "general"}};
  CHECK_THAT(run_well(general).out, Catch::Contains("convolution kernels: general\n"));
  CHECK(read_json(folder.file("bench.json"))["isa"] == "general");
  general.arguments = {"fcam-bench", "--version"};
  CHECK_THAT(run_well(general).out, Catch::Contains("convolution kernels: general\n"));
}

TEST_CASE("fcam-bench refuses what it cannot do, and leaves nothing", "[bench]") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& options) { return error_of(command(folder, "fcam-bench " + options), 2); };
  using Catch::Contains;
  CHECK_THAT(error("--loss sq"), Contains("loss: ") && Contains("sa, ha, lv") && Contains("found 'sq'"));
  CHECK_THAT(error("--loss sa,sa"), Contains("loss: expected different losses, found 'sa' twice"));
  for (const char* shape : {"3x32", "3x32x32x", "0x32x32", "3x-1x32", "03x32x32", "large", "3,32,32"}) {
    CHECK_THAT(error("--shape " + std::string(shape)),
               Contains("shape: ") && Contains("found '" + std::string(shape) + "'"));
  }
  CHECK_THAT(error("--steps 0"), Contains("steps: "));
  CHECK_THAT(error("--batch 0"), Contains("batch: "));
  CHECK_THAT(error("--focus papre"), Contains("(nearest: paper)"));
  CHECK_THAT(error("--shape 1x8x8 --focus paper"), Contains("focus network: layer pool2"));
  CHECK_THAT(error_of(command(folder, tiny_step + "--loss sa --quiet --json none/b.json"), 4), Contains("none/b.json"));
  CHECK(std::filesystem::is_empty(folder.path()));
}
