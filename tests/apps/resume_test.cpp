// Runs of fcam-train that are refused, replaced, stopped and gone on with.
#include <catch2/catch.hpp>
#include <filesystem>

#include "fcam/training/safetensors.h"
#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("a folder that holds a run is refused without --resume or --force, and stays as it is", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  CHECK_THAT(error_of(training(folder, "--out run"), 2),
             Contains("'run'") && Contains("--resume") && Contains("--force"));
  CHECK(contents_of(folder.file("run")) == before);
  fs::remove(folder.file("run/checkpoint.safetensors"));
  CHECK_THAT(error_of(training(folder, "--out run"), 2), Contains("'run'"));
}

TEST_CASE("--force replaces a run, unless the new one cannot start", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run --epochs 3"));
  const Contents before = contents_of(folder.file("run"));
  error_of(training(folder, "--out run --force --foreground disc"), 2);
  error_of(training(folder, "--out run --force --init none"), 3);
  CHECK(contents_of(folder.file("run")) == before);

  write_file(folder.file("run/notes.txt"), "mine");
  run_well(training(folder, "--out run --force --epochs 1 --loss ha"));
  CHECK(read_table(folder.file("run/log.csv")).rows.size() == 1);
  CHECK(read_json(folder.file("run/summary.json"))["loss"] == "ha");
  CHECK(read_file(folder.file("run/notes.txt")) == "mine");
}

TEST_CASE("a run is not replaced by one that starts from its own files, whatever they are called", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run --patience 1"));
  fs::create_symlink("run/model.safetensors", folder.file("link"));
  fs::create_hard_link(folder.file("run/model.safetensors"), folder.file("second-name"));
  fs::create_directory_symlink("run", folder.file("other"));
  const Contents before = contents_of(folder.file("run"));
  for (const std::string init : {"run/model.safetensors", "run/checkpoint.safetensors", "./run/../link", "second-name",
                                 "other/model.safetensors"}) {
    INFO(init);
    for (const std::string how : {"--force --out run", "--force --out other", "--force --dry-run --out run"}) {
      CHECK_THAT(error_of(training(folder, how + " --init " + init), 2),
                 Contains("init: expected another file") && Contains("'" + init + "'"));
    }
    CHECK(contents_of(folder.file("run")) == before);
  }
  fs::copy_file(folder.file("run/model.safetensors"), folder.file("copy"));
  run_well(training(folder, "--force --out run --init copy"));
}

TEST_CASE("a run that was resumed is the run that was not interrupted", "[resume]") {
  const TemporaryFolder folder;
  for (const std::string optimizer : {"sgd", "adam"}) {
    const std::string options = "--batch 60 --lr 0.01 --optimizer " + optimizer + " --out " + optimizer;
    run_well(training(folder, options + "-whole --epochs 4"));
    run_well(training(folder, options + "-parts --epochs 1"));
    run_well(training(folder, options + "-parts --epochs 2 --resume"));
    const Result last = run_well(command(folder, "fcam-train --resume --epochs 4 --out " + optimizer + "-parts"));
    CHECK_THAT(last.err, Contains("going on after epoch 2") && Contains("epoch 3/4") && !Contains("epoch 2/4"));
    check_same_run(folder.file(optimizer + "-whole"), folder.file(optimizer + "-parts"));
    const Table log = read_table(folder.file(optimizer + "-parts/log.csv"));
    REQUIRE(log.rows.size() == 4);
    double seconds = 0;
    for (std::size_t row = 0; row < 4; ++row) seconds += log.number(row, "seconds");
    CHECK(read_json(folder.file(optimizer + "-parts/summary.json"))["seconds"].get<double>() == Approx(seconds));
  }
}

TEST_CASE("an end that a run has gone on from leaves no test in the log", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --eval-every 2 --epochs 6 --out whole"));
  run_well(training(folder, "--quiet --eval-every 2 --epochs 1 --out parts"));
  for (const std::string epochs : {"3", "4", "5", "6"}) {
    run_well(command(folder, "fcam-train --quiet --resume --out parts --epochs " + epochs));
    CHECK(read_table(folder.file("parts/log.csv")).rows.back().at(10) != "");
  }
  check_same_run(folder.file("whole"), folder.file("parts"));

  run_well(training(folder, "--quiet --eval-every 2 --epochs 6 --stop-loss 100 --out stopped"));
  run_well(command(folder, "fcam-train --quiet --resume --stop-loss 0 --out stopped"));
  CHECK(log_without_seconds(folder.file("stopped/log.csv")) == log_without_seconds(folder.file("whole/log.csv")));

  // A test that was due stays, whatever the options are now.
  run_well(training(folder, "--quiet --eval-every 3 --epochs 3 --out other"));
  run_well(command(folder, "fcam-train --quiet --resume --eval-every 2 --epochs 5 --out other"));
  const Table log = read_table(folder.file("other/log.csv"));
  for (std::size_t row = 0; row < 5; ++row) CHECK((log.text(row, "test_loss") == "") == (row < 2));
}

TEST_CASE("--resume of a run that is complete changes nothing", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  const Result result = run_well(command(folder, "fcam-train --resume --out run"));
  CHECK_THAT(result.err, Contains("has done its 2 epochs"));
  run_well(training(folder, "--resume --out run"));
  CHECK(contents_of(folder.file("run")) == before);
}

TEST_CASE("weights of an earlier end do not outlive a run that goes on", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const std::string early = read_file(folder.file("run/model.safetensors"));
  run_well(training(folder, "--epochs 3 --resume --out run"));
  const Contents before = contents_of(folder.file("run"));
  // as after a kill between the last checkpoint and the weights
  write_file(folder.file("run/model.safetensors"), early);
  run_well(command(folder, "fcam-train --resume --out run"));
  CHECK(contents_of(folder.file("run")) == before);
  Process process(training(folder, "--epochs 100000 --resume --out run"));
  process.wait_for("epoch 5/");
  process.send(SIGTERM);
  CHECK(process.wait().code == 143);
  CHECK_FALSE(fs::exists(folder.file("run/model.safetensors")));
}

TEST_CASE("--resume makes what a kill at the very end has left undone", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  fs::remove(folder.file("run/model.safetensors"));
  write_file(folder.file("run/model.safetensors.tmp"), "half");
  run_well(command(folder, "fcam-train --resume --out run"));
  CHECK(contents_of(folder.file("run")) == before);
}

TEST_CASE("--resume keeps the options of the run and refuses other ones", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  for (const auto& [options, name] : {std::pair<std::string, std::string>{"--lr 0.1", "lr"},
                                      {"--loss ha", "loss"},
                                      {"--seed 2", "seed"},
                                      {"--batch 7", "batch"},
                                      {"--patches 4", "patches"},
                                      {"--foreground 1,2", "foreground"},
                                      {"--classify linear", "classify"}}) {
    const std::string error = error_of(command(folder, "fcam-train --resume --epochs 4 --out run " + options), 2);
    CHECK_THAT(error, Catch::StartsWith("fcam-train: error: " + name + ": expected ") && Contains("'run/config.toml'"));
  }
  CHECK_THAT(error_of(command(folder, "fcam-train --resume --epochs 1 --out run"), 2),
             Contains("epochs: expected at least 2"));
  CHECK(contents_of(folder.file("run")) == before);
  run_well(command(folder, "fcam-train --resume --epochs 3 --eval-every 0 --lr 5e-2 --threads 1 --quiet --out run"));
  CHECK(read_table(folder.file("run/log.csv")).rows.size() == 3);
}

TEST_CASE("--resume without --out goes on with the run of the default folder and its options", "[resume]") {
  const TemporaryFolder folder;
  run_well(command(folder, "fcam-train --epochs 1 --lr 0.02" + tiny()));
  run_well(command(folder, "fcam-train" + tiny_source() + "--patches 3 --resume --epochs 2"));
  const std::string run = folder.file("runs/npy-sa-m3-s1");
  CHECK(read_table(run + "/log.csv").rows.size() == 2);
  CHECK_THAT(read_file(run + "/config.toml"), Contains("lr = 0.02\n"));
}

TEST_CASE("a command with --resume starts a run, goes on with it, and does nothing where it is finished", "[resume]") {
  const TemporaryFolder folder;
  const std::string options = "--resume --seed 4 --out once";
  CHECK_THAT(run_well(training(folder, options)).err, Contains("run 'once'\n") && Contains("epoch 1/2"));
  run_well(training(folder, "--seed 4 --out plain"));
  CHECK(read_file(folder.file("once/model.safetensors")) == read_file(folder.file("plain/model.safetensors")));
  const std::string log = read_file(folder.file("once/log.csv"));
  CHECK_THAT(run_well(training(folder, options)).err, !Contains("epoch 1/2"));
  CHECK(read_file(folder.file("once/log.csv")) == log);
}

TEST_CASE("--resume of a damaged run, or with --force, is refused", "[resume]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(training(folder, "--resume --force --out none"), 2), Contains("--force"));
  CHECK(fs::is_empty(folder.path()));

  run_well(training(folder, "--out run"));
  const std::string checkpoint = folder.file("run/checkpoint.safetensors"), log = folder.file("run/log.csv"),
                    config = folder.file("run/config.toml");
  const std::string command_line = "fcam-train --resume --epochs 3 --out run";
  const auto damage = [&](const std::string& path, const std::string& bytes, const std::string& name) {
    const std::string whole = read_file(path);
    write_file(path, bytes);
    const Contents before = contents_of(folder.file("run"));
    for (const std::string& typed : {std::string(), tiny()}) {
      const Result result = run(command(folder, command_line + typed));
      CHECK(result.code == 3);
      CHECK_THAT(result.err, Contains(name));
    }
    CHECK((path == log || contents_of(folder.file("run")) == before));  // the log is read when the options are written
    write_file(path, whole);
  };
  damage(checkpoint, read_file(checkpoint).substr(0, 5000), "checkpoint.safetensors");
  damage(checkpoint, "", "checkpoint.safetensors");
  damage(config, "losss = \"sa\"\n", "config.toml");
  damage(config, "", "config.toml");
  damage(config, read_file(config).substr(0, read_file(config).find("optimizer")), "config.toml");
  damage(log, "epoch,loss\n", "log.csv");
  run_well(command(folder, command_line));
}

TEST_CASE("a checkpoint of another run is refused, and one that is lost is told of", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --out run"));
  run_well(training(folder, "--quiet --loss lv --out other"));
  const std::string checkpoint = folder.file("run/checkpoint.safetensors");
  fs::copy_file(folder.file("other/checkpoint.safetensors"), checkpoint, fs::copy_options::overwrite_existing);
  const Result foreign = run(command(folder, "fcam-train --resume --epochs 3 --out run"));
  CHECK(foreign.code == 3);
  CHECK_THAT(foreign.err, Contains("checkpoint of run"));

  fs::remove(checkpoint);
  const Result lost = run_well(command(folder, "fcam-train --resume --epochs 3 --out run"));
  CHECK_THAT(lost.err, Contains("warning: no checkpoint is left") && Contains("epoch 1/3"));
  run_well(training(folder, "--quiet --epochs 3 --out whole"));
  check_same_run(folder.file("whole"), folder.file("run"));
}

TEST_CASE("a run is not resumed on data that have changed, in any file", "[resume]") {
  const TemporaryFolder folder;
  const std::string data = folder.file("data");
  fs::create_directory(data);
  write_items(data, "train", 40, {1, 6, 6});
  write_items(data, "test", 40, {1, 6, 6});
  const std::string options = "fcam-train --quiet --patches 3 --train 50 --test 50 --out run --data npy:data ";
  run_well(command(folder, options + "--epochs 1"));
  const Contents before = contents_of(folder.file("run"));
  for (const std::string name : {"x_train", "y_train", "x_test", "y_test"}) {
    const std::string path = data + "/" + name + ".npy", whole = read_file(path);
    std::string other = whole;
    if (name.starts_with("x")) {
      other.back() = static_cast<char>(other.back() ^ 1);  // the sign stays, a bit of a large number does not
    } else {
      std::swap(other[other.size() - 8], other[other.size() - 16]);  // two labels
    }
    write_file(path, other);
    const Result result = run(command(folder, "fcam-train --quiet --resume --epochs 2 --out run"));
    CHECK(result.code == 3);
    CHECK_THAT(result.err, Contains("'run/checkpoint.safetensors'") && Contains("have the data changed"));
    CHECK(contents_of(folder.file("run")) == before);
    write_file(path, whole);
  }
  run_well(command(folder, "fcam-train --quiet --resume --epochs 2 --out run"));
}

TEST_CASE("a checkpoint that does not know its data is gone on with", "[resume]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --epochs 2 --out whole"));
  run_well(training(folder, "--quiet --epochs 1 --out parts"));
  const std::string checkpoint = folder.file("parts/checkpoint.safetensors");
  fcam::SafeTensors content = fcam::read_safetensors(checkpoint);
  REQUIRE(content.metadata.erase("data") == 1);
  fcam::write_safetensors(checkpoint, content);
  run_well(command(folder, "fcam-train --quiet --resume --epochs 2 --out parts"));
  check_same_run(folder.file("whole"), folder.file("parts"));
}

TEST_CASE("with patience and tests now and then, a run that goes on is the run that was not stopped", "[resume]") {
  const TemporaryFolder folder;
  const std::string options = "--quiet --patience 3 --eval-every 3 --lr 0.2 ";
  run_well(training(folder, options + "--epochs 8 --out whole"));
  run_well(training(folder, options + "--epochs 4 --out parts"));
  run_well(command(folder, "fcam-train --quiet --resume --epochs 8 --out parts"));
  for (const std::string name : {"/model.safetensors", "/checkpoint.safetensors"}) {
    CHECK(read_file(folder.file("whole" + name)) == read_file(folder.file("parts" + name)));
  }
}
