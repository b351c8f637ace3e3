// Runs of fcam-train that end before their last epoch: --patience and --stop-loss.
#include <catch2/catch.hpp>

#include <filesystem>

#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// A run with a worse epoch soon: few mosaics, large steps.
Command unsteady(const TemporaryFolder& folder, const std::string& options) {
  return command(folder,
                 "fcam-train --data shapes --focus linear --classify linear --train 200 --test 100 --patches 3 " +
                     ("--batch 10 --loss ha " + options));
}
const std::string many = "--lr 1 --epochs 40 ";

// One that learns in small steps.
const std::string steady = "--loss lv --lr 0.01 --batch 100 --epochs 40 ";

std::size_t best_epoch_of(const Table& log, const std::string& column) {
  std::size_t best = 0;
  for (std::size_t row = 1; row < log.rows.size(); ++row) {
    if (log.number(row, column) < log.number(best, column)) best = row;
  }
  return best + 1;
}

double loss_of(const TemporaryFolder& folder, const std::string& run) {
  run_well(command(folder, "fcam-evaluate " + run + " --json e.json"));
  return read_json(folder.file("e.json"))["loss_value"];
}

}  // namespace

TEST_CASE("--patience stops after so many tests without a lower loss and keeps the best weights", "[early_end]") {
  const TemporaryFolder folder;
  run_well(unsteady(folder, many + "--patience 2 --out run"));
  const Table log = read_table(folder.file("run/log.csv"));
  const nlohmann::json summary = read_json(folder.file("run/summary.json"));
  const std::size_t best = best_epoch_of(log, "test_loss");
  REQUIRE(log.rows.size() < 40);
  CHECK(log.rows.size() == best + 2);
  CHECK(summary["ended_by"] == "patience");
  CHECK(summary["epochs"] == best + 2);
  CHECK(summary["best_epoch"] == best);
  CHECK(summary["best_loss"] == log.number(best - 1, "test_loss"));
  CHECK(loss_of(folder, "run") == Approx(log.number(best - 1, "test_loss")).epsilon(1e-6));
  CHECK(loss_of(folder, "run") != log.number(best + 1, "test_loss"));

  // Without it the same run goes on, and keeps the last weights.
  run_well(unsteady(folder, many + "--out all"));
  const Table whole = read_table(folder.file("all/log.csv"));
  CHECK(whole.rows.size() == 40);
  CHECK(whole.text(best + 1, "test_loss") == log.text(best + 1, "test_loss"));
  CHECK(read_json(folder.file("all/summary.json"))["ended_by"] == "epochs");
  CHECK(read_json(folder.file("all/summary.json"))["best_epoch"].is_null());
  CHECK(loss_of(folder, "all") == Approx(whole.number(39, "test_loss")).epsilon(1e-6));
}

TEST_CASE("a run with patience that is resumed ends as one that was not stopped", "[early_end]") {
  const TemporaryFolder folder;
  for (const std::string optimizer : {"sgd --lr 1", "adam --lr 0.02"}) {
    const std::string options = "--patience 3 --optimizer " + optimizer;
    run_well(unsteady(folder, options + " --epochs 40 --force --out whole"));
    run_well(unsteady(folder, options + " --epochs 1 --force --out parts"));
    for (const std::string epochs : {"2", "3", "5", "40"}) {
      run_well(command(folder, "fcam-train --quiet --resume --out parts --epochs " + epochs));
    }
    check_same_run(folder.file("whole"), folder.file("parts"));
  }
}

TEST_CASE("a run that patience has ended stays as it is, and goes on where it is given more", "[early_end]") {
  const TemporaryFolder folder;
  run_well(unsteady(folder, many + "--patience 1 --out run"));
  const Contents before = contents_of(folder.file("run"));
  const Result again = run_well(command(folder, "fcam-train --resume --out run"));
  CHECK_THAT(again.err, Contains("has done its "));
  CHECK(contents_of(folder.file("run")) == before);
  run_well(unsteady(folder, many + "--patience 2 --out two"));
  run_well(command(folder, "fcam-train --resume --patience 2 --out run"));
  check_same_run(folder.file("two"), folder.file("run"));
  CHECK_THAT(error_of(command(folder, "fcam-train --resume --patience 0 --out run"), 2), Contains("patience: "));
  run_well(training(folder, "--out last"));
  CHECK_THAT(error_of(command(folder, "fcam-train --resume --epochs 3 --patience 2 --out last"), 2),
             Contains("patience: expected 0"));
}

TEST_CASE("without tests patience goes by the train loss", "[early_end]") {
  const TemporaryFolder folder;
  run_well(unsteady(folder, many + "--patience 2 --eval-every 0 --out run"));
  const Table log = read_table(folder.file("run/log.csv"));
  CHECK(read_json(folder.file("run/summary.json"))["best_epoch"] == best_epoch_of(log, "loss"));
}

TEST_CASE("--stop-loss ends a run after the first epoch with at most that train loss, with a test", "[early_end]") {
  const TemporaryFolder folder;
  run_well(training(folder, steady + "--eval-every 7 --stop-loss 0.5 --out run"));
  const Table log = read_table(folder.file("run/log.csv"));
  const std::size_t last = log.rows.size() - 1;
  REQUIRE(last > 0);
  REQUIRE(last < 39);
  CHECK(log.number(last, "loss") <= 0.5);
  CHECK(log.number(last - 1, "loss") > 0.5);
  CHECK_FALSE(log.text(last, "test_loss").empty());
  CHECK(read_json(folder.file("run/summary.json"))["ended_by"] == "stop-loss");
  CHECK(loss_of(folder, "run") == Approx(log.number(last, "test_loss")).epsilon(1e-6));
  CHECK_THAT(read_file(folder.file("run/config.toml")), Contains("stop-loss = 0.5\n"));
}

TEST_CASE("a run ended by its stop loss goes on with a lower one", "[early_end]") {
  const TemporaryFolder folder;
  run_well(training(folder, steady + "--eval-every 0 --stop-loss 0.4 --out whole"));
  run_well(training(folder, steady + "--eval-every 0 --stop-loss 0.7 --out parts"));
  CHECK(read_table(folder.file("parts/log.csv")).rows.size() < read_table(folder.file("whole/log.csv")).rows.size());
  run_well(command(folder, "fcam-train --resume --stop-loss 0.4 --out parts"));
  check_same_run(folder.file("whole"), folder.file("parts"));
}

TEST_CASE("fewer epochs than a run has done are refused, as many end it", "[early_end]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--epochs 4 --stop-loss 100 --out run"));  // after one
  CHECK(read_json(folder.file("run/summary.json"))["ended_by"] == "stop-loss");
  run_well(command(folder, "fcam-train --resume --epochs 1 --out run"));
  CHECK(read_json(folder.file("run/summary.json"))["ended_by"] == "epochs");
  CHECK_THAT(read_file(folder.file("run/config.toml")), Contains("epochs = 1\n"));
}

TEST_CASE("a patience or stop loss that is none is refused", "[early_end]") {
  const TemporaryFolder folder;
  for (const std::string options : {"--patience -1", "--patience 1.5", "--patience x", "--stop-loss nan",
                                    "--stop-loss inf", "--stop-loss -1", "--stop-loss 0,5", "--stop-loss 0x1"}) {
    CHECK_THAT(error_of(training(folder, options), 2), Catch::StartsWith("fcam-train: error: "));
  }
  CHECK(fs::is_empty(folder.path()));
}
