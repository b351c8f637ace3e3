// Runs of fcam-train that are stopped by signals or killed, at any moment, and go on to the same bytes.
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "fcam/training/safetensors.h"
#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// A run that takes a while, and what it comes to when nobody disturbs it.
const std::string long_run = "--epochs 60 --batch 50 --loss lv ";
struct Undisturbed {
  Undisturbed() { run_well(training(folder, long_run + "--out run")); }
  TemporaryFolder folder;
};
std::string undisturbed() {
  static const Undisturbed run;
  return run.folder.file("run");
}

// Steps that take a while in an epoch that takes long, or a test that does.
const std::string small_networks = "--focus mlp --classify mlp --patches 3 ";
const std::string long_epoch = small_networks + "--epochs 2 --train 10000 --batch 20 --test 10 ";
const std::string long_test = small_networks + "--epochs 2 --train 60 --batch 20 --test 30000 ";

Command lengthy(const TemporaryFolder& folder, const std::string& options, std::vector<std::string> more = {}) {
  return command(folder, "fcam-train" + tiny_source() + options, std::move(more));
}

void wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 30000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(holds());
}

// Waits until the first epoch is about to begin.
void begins_epoch(const TemporaryFolder& folder) {
  wait_until([&] { return fs::exists(folder.file("run/log.csv")); });
}

std::string metadata_of(const std::string& checkpoint, const std::string& key) {
  const auto metadata = fcam::read_safetensors(checkpoint).metadata;
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

}  // namespace

TEST_CASE("SIGINT saves the state and exits with 130; --resume comes to the same bytes", "[signal]") {
  const TemporaryFolder folder;
  Process process(training(folder, long_run + "--out run"));
  process.wait_for("epoch 3/");
  process.send(SIGINT);
  const Result stopped = process.wait();
  CHECK(stopped.code == 130);
  CHECK(stopped.signal == 0);
  CHECK_THAT(stopped.err, Contains("fcam-train: stopped after epoch ") && Contains("--resume") && !Contains("error"));
  CHECK_FALSE(fs::exists(folder.file("run/model.safetensors")));
  run_well(training(folder, long_run + "--out run --resume"));
  check_same_run(undisturbed(), folder.file("run"));
}

TEST_CASE("SIGTERM saves the state and exits with 143, and --resume comes to the same bytes; SIGHUP with 129",
          "[signal]") {
  const TemporaryFolder folder;
  Process process(training(folder, long_run + "--out run --quiet"));
  wait_until([&] { return fs::exists(folder.file("run/checkpoint.safetensors")); });
  process.send(SIGTERM);
  const Result terminated = process.wait();
  CHECK(terminated.code == 143);
  CHECK(terminated.signal == 0);
  run_well(command(folder, "fcam-train --resume --out run"));
  check_same_run(undisturbed(), folder.file("run"));

  Process endless(training(folder, "--epochs 1000000 --batch 50 --loss lv --out endless"));
  endless.wait_for("epoch 1/");
  endless.send(SIGHUP);
  const Result hung_up = endless.wait();
  CHECK(hung_up.code == 129);
  CHECK(hung_up.signal == 0);
  CHECK_NOTHROW(fcam::read_safetensors(folder.file("endless/checkpoint.safetensors")));
}

TEST_CASE("SIGHUP does not stop a run that was started to ignore it", "[signal]") {
  const TemporaryFolder folder;
  Command start = training(folder, long_run + "--out run");
  start.ignored_signal = SIGHUP;
  Process process(start);
  process.wait_for("epoch 2/");
  process.send(SIGHUP);
  CHECK(process.wait().code == 0);
  check_same_run(undisturbed(), folder.file("run"));
}

TEST_CASE("a signal within an epoch keeps its batches: --resume goes on there, to the same bytes", "[signal]") {
  for (const std::string optimizer : {"sgd", "adam --lr 0.001"}) {
    const TemporaryFolder folder;
    const std::string options = long_epoch + "--optimizer " + optimizer;
    run_well(lengthy(folder, options + " --out whole"));
    Process process(lengthy(folder, options + " --out run"));
    begins_epoch(folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    process.send(SIGINT);
    const Result stopped = process.wait();
    CHECK(stopped.code == 130);
    CHECK_THAT(stopped.err, Contains("stopped after epoch 0 and ") && Contains(" of 10000 mosaics of the next"));
    const std::string checkpoint = folder.file("run/checkpoint.safetensors");
    CHECK(metadata_of(checkpoint, "epochs") == "0");
    CHECK(std::stoul(metadata_of(checkpoint, "epoch.mosaics")) % 20 == 0);
    CHECK(std::stoul(metadata_of(checkpoint, "epoch.mosaics")) > 0);
    CHECK_THAT(error_of(lengthy(folder, options + " --out run"), 2), Contains("--resume"));
    run_well(command(folder, "fcam-train --resume --quiet --out run --threads 1"));
    check_same_run(folder.file("whole"), folder.file("run"));
  }
}

TEST_CASE("a signal during the test of an epoch stops it: --resume tests again, to the same bytes", "[signal]") {
  const TemporaryFolder folder;
  run_well(lengthy(folder, long_test + "--out whole"));
  // The test takes hundreds of times as long as the training before it: some moment is in it.
  const std::string in_test = "stopped after epoch 0 and 60 of 60 mosaics of the next";
  Result stopped;
  for (int milliseconds = 10; stopped.err.find(in_test) == std::string::npos; milliseconds *= 2) {
    REQUIRE(milliseconds < 10000);
    fs::remove_all(folder.file("run"));
    Process process(lengthy(folder, long_test + "--out run"));
    begins_epoch(folder);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    process.send(SIGTERM);
    stopped = process.wait();
    CHECK(stopped.code == 143);
  }
  CHECK(read_table(folder.file("run/log.csv")).rows.empty());
  run_well(command(folder, "fcam-train --resume --quiet --out run"));
  check_same_run(folder.file("whole"), folder.file("run"));
}

TEST_CASE("a second signal ends the program at once, of the same kind or another, and spoils nothing", "[signal]") {
  for (const int second : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    Process process(training(folder, long_run + "--out run"));
    process.wait_for("epoch 2/");
    process.send(SIGINT);
    process.send(second);
    const int code = process.wait().code;
    CHECK((code == 130 || code == 128 + second));
    run_well(training(folder, long_run + "--out run --resume"));
    check_same_run(undisturbed(), folder.file("run"));
  }
}

TEST_CASE("a run that another program works in is refused, and goes on undisturbed", "[signal]") {
  const TemporaryFolder folder;
  const std::string endless = "--epochs 1000000 --batch 50 --loss lv ";
  Process process(training(folder, endless + "--out run"));
  process.wait_for("epoch 1/");
  for (const std::string options : {"--resume --out run", "--force --out run"}) {
    CHECK_THAT(error_of(training(folder, endless + options), 2), Contains("out: ") && Contains("no other program"));
  }
  process.send(SIGTERM);
  const Result stopped = process.wait();
  CHECK(stopped.code == 143);
  CHECK_THAT(stopped.err, !Contains("error"));
}

// FCAM_KILLS says how often.
TEST_CASE("a run that is killed at random moments, resumed each time, comes to the same bytes", "[signal][kills]") {
  const char* variable = std::getenv("FCAM_KILLS");
  const int kills = variable == nullptr ? 8 : std::atoi(variable);
  REQUIRE(kills > 0);
  // Long enough to outlast all kills, with a test and an optimiser that has more to remember.
  const std::string options =
      "--epochs " + std::to_string(12 * kills) + " --batch 50 --loss lv --optimizer adam --lr 0.001 --patience 100000 ";
  const TemporaryFolder folder;
  run_well(training(folder, options + "--out whole --quiet"));

  const unsigned seed = std::random_device()();
  INFO("seed of the moments: " << seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> milliseconds(1, 300);
  const std::string run_path = folder.file("run"), checkpoint = run_path + "/checkpoint.safetensors";
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    const bool started = fs::exists(run_path + "/config.toml");
    const bool partly = fs::exists(run_path) && !fs::is_empty(run_path);
    Process process(training(folder, options + "--out run" + (started ? " --resume" : partly ? " --force" : "")));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    process.send(SIGKILL);
    const Result result = process.wait();
    INFO(result.err);
    CHECK((result.signal == SIGKILL || result.code == 0));
    killed += result.signal == SIGKILL;
    if (fs::exists(checkpoint)) CHECK_NOTHROW(fcam::read_safetensors(checkpoint));
    if (!fs::exists(run_path)) continue;
    const Contents contents = contents_of(run_path);
    CHECK(std::count_if(contents.begin(), contents.end(), [](const auto& f) { return f.first.ends_with(".tmp"); }) <=
          1);
  }
  CHECK(killed >= (kills + 1) / 2);
  const bool started = fs::exists(run_path + "/config.toml");
  run_well(training(folder, options + "--out run --quiet" + (started ? " --resume" : "")));
  check_same_run(folder.file("whole"), run_path);
  CHECK(contents_of(run_path).size() == 5);
}
