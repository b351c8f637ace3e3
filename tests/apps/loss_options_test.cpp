// fcam-train with the losses beyond the paper's, and what changes how a run trains, from outside.
#include <catch2/catch.hpp>

#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;

TEST_CASE("every loss trains, is evaluated by the loss it stands for, and counts calls of g", "[losses]") {
  const TemporaryFolder folder;
  const auto calls = [&](const std::string& name, const std::string& options) {
    run_well(training(folder, options + " --quiet --out " + name));
    run_well(command(folder, "fcam-evaluate --quiet " + name + " --json e.json"));
    const auto summary = read_json(folder.file(name + "/summary.json"));
    CHECK(read_json(folder.file("e.json"))["loss_value"].get<double>() ==
          Approx(summary["test"]["loss_value"].get<double>()).epsilon(1e-5));
    return std::pair(summary["classify_forward"].get<double>(), summary["classify_backward"].get<double>());
  };
  // 2 epochs of 200 mosaics of 3 patches.
  CHECK(calls("sa", "--loss sa") == std::pair(400.0, 400.0));
  CHECK(calls("lv-em", "--loss lv-em") == std::pair(1200.0, 1200.0));
  CHECK(calls("top", "--loss lv-topk") == std::pair(1200.0, 800.0));
  CHECK(calls("sampled", "--loss ha-sampled --samples 2 --reward prob") == std::pair(1200.0, 800.0));
  CHECK(calls("hybrid", "--loss hybrid --switch-epoch 1") == std::pair(800.0, 800.0));
  CHECK(calls("hybrid-sampled", "--loss hybrid --switch-epoch 1 --then ha-sampled") == std::pair(600.0, 400.0));
}

TEST_CASE("expectation maximisation takes the same steps as the marginal likelihood, but for rounding", "[losses]") {
  const TemporaryFolder folder;
  for (const std::string loss : {"lv", "lv-em"})
    run_well(training(folder, "--quiet --loss " + loss + " --out " + loss));
  const Table a = read_table(folder.file("lv/log.csv")), b = read_table(folder.file("lv-em/log.csv"));
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(a.number(row, "loss") == Approx(b.number(row, "loss")).epsilon(1e-5));
    CHECK(a.number(row, "test_loss") == Approx(b.number(row, "test_loss")).epsilon(1e-4));
  }
}

TEST_CASE(
    "runs of losses that draw, of hybrid and with augmentation are the same whatever the threads, and after a resume",
    "[losses]") {
  for (const std::string loss : {"--loss ha-sampled", "--loss lv-topk --augment flip,crop --weight-decay 0.01",
                                 "--loss hybrid --switch-epoch 1 --blend 1 --lr-schedule cosine"}) {
    INFO(loss);
    const TemporaryFolder folder;
    const std::string options = "--quiet --epochs 4 " + loss;
    run_well(training(folder, options + " --threads 1 --out whole"));
    run_well(training(folder, options + " --threads 3 --out run"));
    check_same_run(folder.file("whole"), folder.file("run"));
    // Stopped after the first epoch, then as soon as it goes on.
    for (const std::string word : {"epoch 1/", "epoch"}) {
      Process process(training(folder, "--epochs 4 " + loss + " --resume --out stopped"));
      process.wait_for(word);
      process.send(SIGINT);
      const int code = process.wait().code;
      CHECK((code == 130 || code == 0));
    }
    run_well(training(folder, options + " --resume --out stopped"));
    check_same_run(folder.file("whole"), folder.file("stopped"));
  }
}

TEST_CASE("options that change how a run trains are recorded and change it", "[losses]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --out plain"));
  const std::string plain = read_file(folder.file("plain/model.safetensors"));
  for (const std::string option :
       {"--weight-decay 0.1", "--augment flip", "--augment crop", "--lr-schedule step", "--lr-schedule cosine"}) {
    INFO(option);
    run_well(training(folder, "--quiet --out changed --force " + option));
    const bool changed = read_file(folder.file("changed/model.safetensors")) != plain;
    CHECK(changed);
    const std::string value = option.substr(option.find(' ') + 1);
    CHECK_THAT(read_file(folder.file("changed/config.toml")), Contains(value));
  }
}

TEST_CASE("a hybrid is evaluated by the phase that it has come to", "[losses]") {
  const TemporaryFolder folder;
  for (const auto& [options, rule] : {std::pair("--switch-epoch 5", "sa"), std::pair("--switch-epoch 1", "ha"),
                                      std::pair("--switch-epoch 1 --blend 3", "ha")}) {
    INFO(options);
    run_well(training(folder, std::string("--quiet --loss hybrid --force --out run ") + options));
    run_well(command(folder, "fcam-evaluate --quiet run --json e.json"));
    const auto evaluated = read_json(folder.file("e.json")), summary = read_json(folder.file("run/summary.json"));
    CHECK(evaluated["inference"] == rule);
    CHECK(evaluated["loss_value"].get<double>() == Approx(summary["test"]["loss_value"].get<double>()).epsilon(1e-5));
    CHECK(evaluated["accuracy"] == summary["test"]["accuracy"]);
  }
}

TEST_CASE("a run whose learning rate follows the number of epochs keeps that number", "[losses]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --lr-schedule cosine --out run"));
  CHECK_THAT(error_of(command(folder, "fcam-train --resume --epochs 4 --out run"), 2), Contains("epochs: expected"));
  run_well(command(folder, "fcam-train --resume --out run"));
}

TEST_CASE("options of losses that the run does not train with are refused, with their names", "[losses]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& options, const std::string& name) {
    CHECK_THAT(error_of(training(folder, "--out run " + options), 2), Contains("error: " + name + ": expected "));
  };
  refused("--samples 2", "samples");
  refused("--loss lv --reward prob", "reward");
  refused("--loss hybrid --samples 2", "samples");
  refused("--loss ha-sampled --top 2", "top");
  refused("--loss sa --switch-epoch 3", "switch-epoch");
  refused("--blend 3", "blend");
  refused("--then ha-sampled", "then");
  refused("--then-lr 0.1", "then-lr");
  refused("--loss hybrid --patience 3", "patience");
  refused("--loss hybrid --stop-loss 0.1", "stop-loss");
  refused("--loss hybrid --switch-epoch soon", "switch-epoch");
  refused("--loss hybrid --switch-epoch -1", "switch-epoch");
  refused("--augment flop", "augment");
  refused("--augment flip,flip", "augment");
  refused("--weight-decay -1", "weight-decay");
  refused("--lr-schedule fast", "lr-schedule");
  CHECK_THAT(error_of(command(folder, "fcam-train --data linear --augment flip --out run"), 2),
             Contains("augment: expected images"));
  CHECK(std::filesystem::is_empty(folder.path()));
}
