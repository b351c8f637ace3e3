// sweeps/run from outside. Tests run at the top of the project.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/runs.h"

namespace fs = std::filesystem;
using namespace fcam::test;
using Catch::Matchers::Contains;

namespace {

std::string line(const std::string& options) {
  return "\"${BIN:-build/bin}\"/fcam-train --resume" + tiny_source() +
         "--test 50 --patches 3 --focus mlp --classify mlp " + options + "\n";
}

Command sweep(const TemporaryFolder& folder, const std::string& lines, const std::string& then = "") {
  std::ofstream(folder.file("lines.txt")) << lines;
  const char* bin = std::getenv("FCAM_BIN");
  Command command{.arguments = {fs::absolute("sweeps/run").string(), folder.file("lines.txt")},
                  .folder = folder.path().string()};
  if (!then.empty()) command.arguments.push_back(then);
  command.environment = {{"BIN", fs::absolute(bin != nullptr ? bin : "build/bin").string()}, {"RUNS", "a b"}};
  return command;
}

}  // namespace

TEST_CASE("a sweep runs its lines, says how long the rest takes, and does nothing more when it is given again",
          "[sweep]") {
  const TemporaryFolder folder;
  const std::string lines = line("--loss sa --train 100 --epochs 2 --out \"$RUNS\"/sa") +
                            line("--loss lv --train 100 --epochs 3 --out \"$RUNS\"/lv");
  const std::string err = run_well(sweep(folder, lines, "echo done > then.txt")).err;
  CHECK_THAT(err, Contains("[1/2] about ") && Contains(" left: fcam-train a b/sa") && Contains("[2/2] about "));
  CHECK(read_table(folder.file("a b/sa/log.csv")).rows.size() == 2);
  CHECK(read_table(folder.file("a b/lv/log.csv")).rows.size() == 3);
  CHECK(read_file(folder.file("then.txt")) == "done\n");
  const std::string log = read_file(folder.file("a b/lv/log.csv"));
  CHECK_THAT(run_well(sweep(folder, lines)).err, Contains("[1/2] about 0 s left") && Contains("has done its 3 epochs"));
  CHECK(read_file(folder.file("a b/lv/log.csv")) == log);
}

TEST_CASE("a line that fails leaves the others to be run, and the sweep fails", "[sweep]") {
  const TemporaryFolder folder;
  const std::string good = line("--loss sa --train 100 --epochs 1 --out sa");
  const auto result = run(sweep(folder, "\"$BIN\"/fcam-flow --time 0\n" + good, "touch then.txt"));
  CHECK(result.code == 1);
  CHECK_THAT(result.err, Contains("exit code 2 of: ") && Contains("1 of 2 lines failed"));
  CHECK(fs::exists(folder.file("sa/model.safetensors")));
  CHECK(fs::exists(folder.file("then.txt")));
  Command none = sweep(folder, good);
  none.arguments[1] = "none.txt";
  CHECK_THAT(error_of(none, 2), Contains("found 'none.txt'"));
}

TEST_CASE("lines of a sweep may be of several commands and set variables, and leave options out", "[sweep]") {
  const TemporaryFolder folder;

  const std::string chained = "echo once >> side.txt && " + line("--loss sa --train=100 --epochs 1 --out chained");
  const std::string with_variable = "OPENBLAS_VERBOSE=0 " + line("--loss sa --epochs 1 --out variable");
  const std::string bare = "\"$BIN\"/fcam-train --resume --epochs 1 --test 50 --patches 3 --loss sa --focus linear " +
                           ("--classify linear --out \"$RUNS/bare\"" + tiny_source()) + "\n";
  const Result result = run_well(sweep(folder, chained + with_variable + bare));
  CHECK_THAT(result.err, !Contains("syntax error") && !Contains("no estimate") &&
                             Contains("left: fcam-train chained") && Contains("left: fcam-train a b/bare"));
  for (const std::string name : {"chained", "variable", "a b/bare"})
    CHECK(fs::exists(folder.file(name + "/model.safetensors")));
  CHECK(read_file(folder.file("side.txt")) == "once\n");  // not to measure its time
}

TEST_CASE("a line that cannot be measured leaves the others to be run, and is counted", "[sweep]") {
  const TemporaryFolder folder;
  const std::string good = line("--loss lv --train 100 --epochs 1 --out lv");
  const std::string bad = line("--loss sa --train 100 --epochs 1 --foreground none --out sa");
  const Result result = run(sweep(folder, bad + good + bad, "touch then.txt"));
  CHECK(result.code == 1);
  CHECK_THAT(result.err, Contains("no estimate for: ") && Contains("2 of 3 lines failed"));
  CHECK(fs::exists(folder.file("lv/model.safetensors")));
  CHECK(fs::exists(folder.file("then.txt")));
  CHECK(run(sweep(folder, bad + bad)).code == 1);
}

TEST_CASE("a signal ends a sweep within a line of several commands, and no other command begins", "[sweep]") {
  const TemporaryFolder folder;
  const std::string lines = "true; " + line("--loss sa --train 2000 --epochs 5000 --out sa");
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process(sweep(folder, lines.substr(0, lines.size() - 1) + "; touch after.txt\ntouch next.txt\n"));
    process.wait_for("epoch ");
    process.send(signal);
    const Result stopped = process.wait();
    CHECK(stopped.code == 128 + signal);
    CHECK_THAT(stopped.err, Contains("fcam-train: stopped after epoch"));
    CHECK_FALSE(fs::exists(folder.file("after.txt")));
    CHECK_FALSE(fs::exists(folder.file("next.txt")));
  }
}

TEST_CASE("a signal between two lines of a sweep ends it before the next", "[sweep]") {
  const TemporaryFolder folder;
  // The folder of a line is looked up before the line is run.
  const Result result = run(sweep(folder, "touch no.txt; true --out \"$(kill -TERM $$)\"\n"));
  CHECK(result.code == 143);
  CHECK_FALSE(fs::exists(folder.file("no.txt")));
}

TEST_CASE("a signal stops a sweep once the run is saved, and the same command goes on", "[sweep]") {
  const TemporaryFolder folder;
  const auto lines = [](const std::string& epochs) {
    return line("--loss sa --train 2000 --epochs " + epochs + " --out sa");
  };
  Process process(sweep(folder, lines("5000"), "touch then.txt"));
  process.wait_for("epoch 2/5000");
  process.send(SIGTERM);
  const Result stopped = process.wait();
  CHECK(stopped.code == 143);
  CHECK_THAT(stopped.err, Contains("fcam-train: stopped after epoch"));
  CHECK_FALSE(fs::exists(folder.file("then.txt")));
  const auto done = read_table(folder.file("sa/log.csv")).rows.size();
  CHECK_THAT(run_well(sweep(folder, lines(std::to_string(done + 1)))).err, Contains("going on after epoch"));
}
