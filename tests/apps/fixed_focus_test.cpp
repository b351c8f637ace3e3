// fcam-fixed-focus from outside.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string small_linear = "--data linear --classes 4 --patches 3 --train 120 --batch 40 ";

// On linear data, for 3 epochs unless the options say otherwise.
Command fixed_focus(const TemporaryFolder& folder, const std::string& options) {
  const bool epochs = options.find("--epochs") != std::string::npos || options.find("--resume") != std::string::npos;
  const bool data = options.find("--data") != std::string::npos || options.find("--resume") != std::string::npos;
  return command(folder, "fcam-fixed-focus " + (data ? "" : small_linear) + (epochs ? "" : "--epochs 3 ") + options);
}

void check_same_files(const TemporaryFolder& folder, const std::string& a, const std::string& b) {
  for (const std::string name : {"/loss.csv", "/incentive.csv"}) {
    INFO(name);
    CHECK(read_file(folder.file(a + name)) == read_file(folder.file(b + name)));
  }
}

}  // namespace

TEST_CASE("a run with fixed focus leaves its options and two tables, rows from epoch 0", "[fixed]") {
  const TemporaryFolder folder;
  const Result result = run_well(fixed_focus(folder, "--out run --loss lv,sa --alpha 1,0.25"));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.file("run"))) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"config.toml", "incentive.csv", "loss.csv"});
  const Table losses = read_table(folder.file("run/loss.csv")),
              incentives = read_table(folder.file("run/incentive.csv"));
  CHECK(losses.header == std::vector<std::string>{"loss", "alpha", "epoch", "value"});
  CHECK(incentives.header == std::vector<std::string>{"loss", "alpha", "epoch", "difference", "derivative"});
  REQUIRE(losses.rows.size() == 16);
  REQUIRE(incentives.rows.size() == 16);
  for (std::size_t row = 0; row < 16; ++row) {
    CHECK(losses.text(row, "loss") == (row < 8 ? "sa" : "lv"));
    CHECK(losses.text(row, "alpha") == (row % 8 < 4 ? "0.25" : "1"));
    CHECK(losses.text(row, "epoch") == std::to_string(row % 4));
    for (const char* column : {"loss", "alpha", "epoch"})
      CHECK(incentives.text(row, column) == losses.text(row, column));
    if (row % 8 >= 4) CHECK(incentives.text(row, "difference") == "0");
    if (row % 4 > 0) CHECK(losses.number(row, "value") < losses.number(row - 1, "value"));
  }
  CHECK(losses.number(4, "value") == Approx(losses.number(12, "value")).epsilon(1e-6));  // one g, before training
  CHECK_THAT(result.out, Contains("lv   0.25") && Contains("derivative at end"));
  CHECK_THAT(result.err, Contains("lv, alpha 0.25, epoch 3/3  loss "));
}

TEST_CASE("linear data have the paper's sizes and rates where nothing else is asked for", "[fixed]") {
  const TemporaryFolder folder;
  run_well(fixed_focus(folder, "--data linear --out run --loss sa --alpha 1 --epochs 1"));
  CHECK_THAT(read_file(folder.file("run/config.toml")),
             Contains("classes = 20\n") && Contains("patches = 20\n") && Contains("train = 5000\n") &&
                 Contains("classify = \"linear nobias\"\n") && !Contains("lr =") && Contains("momentum = 0.9\n"));
  run_well(fixed_focus(folder, "--out default --loss sa,ha,lv --alpha 0.5"));
  run_well(fixed_focus(folder, "--out same --loss sa,lv --alpha 0.5 --lr 0.05"));
  run_well(fixed_focus(folder, "--resume --out default --loss sa,ha,lv"));
  const Table all = read_table(folder.file("default/loss.csv")), two = read_table(folder.file("same/loss.csv"));
  for (std::size_t row = 0; row < 4; ++row) {
    CHECK(all.rows[row] == two.rows[row]);
    CHECK(all.rows[8 + row] == two.rows[4 + row]);
  }
  const std::string shapes = "--data shapes --train 60 --patches 3 --classify mlp --epochs 1 --alpha 0.5 ";
  run_well(fixed_focus(folder, shapes + "--out shapes --loss sa"));
  run_well(fixed_focus(folder, shapes + "--out slow --loss sa --lr 0.004"));
  check_same_files(folder, "shapes", "slow");
}

TEST_CASE("the folder is named after data, patches and seed where no other is given, when a run goes on too",
          "[fixed]") {
  const TemporaryFolder folder;
  const std::string options = "fcam-fixed-focus --data linear --classes 3 --train 40 --epochs 1 --alpha 1 ";
  run_well(command(folder, options + "--loss sa"));
  CHECK(fs::exists(folder.file("runs/fixed-focus-linear-m20-s1/loss.csv")));
  run_well(command(folder, options + "--loss ha --resume"));
  run_well(command(folder, options + "--loss ha --patches 2 --seed 4"));
  CHECK(read_table(folder.file("runs/fixed-focus-linear-m20-s1/loss.csv")).rows.size() == 4);
  CHECK(read_table(folder.file("runs/fixed-focus-linear-m2-s4/loss.csv")).rows.size() == 2);
}

TEST_CASE("trainings done in parts are the same bytes as all at once, whatever the threads", "[fixed]") {
  const TemporaryFolder folder;
  run_well(fixed_focus(folder, "--out whole --loss sa,ha,lv --alpha 0.2,0.7 --threads 2"));
  run_well(fixed_focus(folder, "--out parts --loss lv --alpha 0.7 --threads 1"));
  run_well(fixed_focus(folder, "--out parts --resume --loss sa,ha --alpha 0.7 --threads 3"));
  run_well(fixed_focus(folder, "--out parts --resume --loss lv,ha,sa --alpha 0.2 --quiet"));
  check_same_files(folder, "parts", "whole");
  const Result again = run_well(fixed_focus(folder, "--out whole --resume"));
  CHECK_THAT(again.err, Contains("6 of 6 trainings are there") && !Contains("epoch"));
  run_well(command(folder, "fcam-fixed-focus --config whole/config.toml --out anew"));
  check_same_files(folder, "anew", "whole");
}

TEST_CASE("a run that is stopped keeps its finished trainings and goes on to the same bytes", "[fixed]") {
  const TemporaryFolder folder;
  const std::string options = "--loss ha,lv --alpha 0.2,0.7 --epochs 200 ";
  Process process(fixed_focus(folder, options + "--out run"));
  process.wait_for("ha, alpha 0.7, epoch 3/200");
  process.send(SIGINT);
  const Result stopped = process.wait();
  CHECK(stopped.code == 130);
  // One, or more where the signal came late on a busy machine.
  const std::size_t rows = read_table(folder.file("run/loss.csv")).rows.size(), finished = rows / 201;
  CHECK((rows == 201 * finished && finished >= 1 && finished < 4));
  CHECK(read_table(folder.file("run/incentive.csv")).rows.size() == rows);
  CHECK_THAT(stopped.err,
             Contains("stopped with " + std::to_string(finished) + " of 4 trainings finished") && Contains("--resume"));
  run_well(fixed_focus(folder, "--resume --out run"));
  run_well(fixed_focus(folder, options + "--out whole"));
  check_same_files(folder, "run", "whole");
}

TEST_CASE("--plot draws both figures in three formats, and does so later from the tables alone", "[fixed]") {
  const TemporaryFolder folder;
  run_well(fixed_focus(folder, "--out run --loss sa --alpha 0.5"));
  run_well(fixed_focus(folder, "--out run --resume --plot"));
  for (const std::string name : {"loss", "incentive"}) {
    CHECK_THAT(read_file(folder.file("run/" + name + ".svg")), Contains("soft attention") && Contains("</svg>"));
    CHECK(read_file(folder.file("run/" + name + ".png")).starts_with("\x89PNG"));
    CHECK(read_file(folder.file("run/" + name + ".pdf")).starts_with("%PDF"));
  }
}

TEST_CASE("requests for fixed focus that cannot be met are usage errors before anything is written", "[fixed]") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& options) { return error_of(fixed_focus(folder, "--out x " + options), 2); };
  CHECK_THAT(error("--alpha 1.5"), Contains("alpha") && Contains("0 to 1") && Contains("'1.5'"));
  CHECK_THAT(error("--alpha nan"), Contains("alpha") && Contains("'nan'"));
  CHECK_THAT(error("--alpha 0.5,0.50"), Contains("each once") && Contains("alpha 0.5 again"));
  CHECK_THAT(error("--loss sa,SA"), Contains("each once"));
  CHECK_THAT(error("--loss soft"), Contains("expected one of sa, ha, lv"));
  CHECK_THAT(error("--step 0"), Contains("step"));
  CHECK_THAT(error("--momentum 1"), Contains("momentum"));
  CHECK_THAT(error("--classify conv3k3"), Contains("conv"));
  CHECK_THAT(error("--data linear --patches 1 --train 50 --alpha 0.5"), Contains("alpha") && Contains("one patch"));
  CHECK_FALSE(fs::exists(folder.file("x")));
  run_well(fixed_focus(folder, "--data linear --patches 1 --train 50 --epochs 1 --alpha 1 --out one"));
  CHECK_THAT(error_of(fixed_focus(folder, "--out one"), 2), Contains("--resume") && Contains("--force"));
  CHECK_THAT(error_of(fixed_focus(folder, "--out one --resume --epochs 2"), 2), Contains("epochs: expected 1"));
  CHECK_THAT(error_of(fixed_focus(folder, "--out one --resume --lr 0.1"), 2), Contains("lr"));
}

TEST_CASE("bags whose positions are not known cannot have a fixed focus", "[fixed]") {
  const TemporaryFolder folder;
  for (const std::string split : {"train", "test"}) {
    fcam::write_npy(folder.file("x_" + split + ".npy"), {4, 3, 1, 2, 2}, std::vector<float>(48, 1));
    fcam::write_npy(folder.file("y_" + split + ".npy"), {4}, std::vector<std::int64_t>{0, 1, 0, 1});
  }
  CHECK_THAT(error_of(fixed_focus(folder, "--data npy:. --out x"), 2), Contains("data") && Contains("known positions"));
}

TEST_CASE("a training that diverges is named with its epoch, and exits with code 5", "[fixed]") {
  const TemporaryFolder folder;
  const Command diverging =
      fixed_focus(folder, "--data teacher --train 60 --quiet --out run --lr 1e30 --loss lv --alpha 1");
  CHECK_THAT(error_of(diverging, 5), Contains("lv, alpha 1: epoch ") && Contains("finite"));
  CHECK_FALSE(fs::exists(folder.file("run/loss.csv")));
}

TEST_CASE("series files that are damaged stop a resume with exit code 3", "[fixed]") {
  const TemporaryFolder folder;
  run_well(fixed_focus(folder, "--out run --loss sa --alpha 0.5"));
  write_file(folder.file("run/incentive.csv"), "nonsense\n");
  CHECK_THAT(error_of(fixed_focus(folder, "--out run --resume"), 3), Contains("incentive.csv") && Contains("header"));
}
