// fcam-train from outside: what a run leaves, that it is reproduced, and what is refused.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "fcam/training/safetensors.h"
#include "support/full_disk.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> run_files{"checkpoint.safetensors", "config.toml", "log.csv", "model.safetensors",
                                         "summary.json"};

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string model_of(const std::string& run) { return read_file(run + "/model.safetensors"); }

}  // namespace

TEST_CASE("a run leaves its five files and nothing else", "[train]") {
  const TemporaryFolder folder;
  const Result result = run_well(training(folder, "--out deep/er/run"));
  CHECK(files_in(folder.file("deep/er/run")) == run_files);
  CHECK(files_in(folder.path().string()) == std::vector<std::string>{"deep"});
  CHECK(result.out.empty());
}

TEST_CASE("the folder of a run is named after data, loss, patches and seed where no other is given", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--loss lv --seed 7 --epochs 1"));
  CHECK(files_in(folder.file("runs/npy-lv-m3-s7")) == run_files);
}

TEST_CASE("log.csv has the documented columns and one row an epoch of sane numbers", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run --epochs 3"));
  CHECK(
      read_file(folder.file("run/log.csv"))
          .starts_with("epoch,loss,accuracy,ftpt,ffpt,ftpf,ffpf,focus_mean,focus_entropy,saif,test_loss,test_accuracy,"
                       "test_ftpt,test_ffpt,test_ftpf,test_ffpf,test_focus_mean,test_focus_entropy,test_saif,seconds,"
                       "focus_gradient,incentive,classify_forward,classify_backward\n"));
  const Table log = read_table(folder.file("run/log.csv"));
  REQUIRE(log.rows.size() == 3);
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK(log.text(row, "epoch") == std::to_string(row + 1));
    for (const std::string prefix : {"", "test_"}) {
      const auto value = [&](const std::string& name) { return log.number(row, prefix + name); };
      CHECK(value("ftpt") + value("ffpt") + value("ftpf") + value("ffpf") == Approx(1));
      CHECK(value("ftpt") + value("ffpt") == Approx(value("accuracy")));
      CHECK(value("loss") > 0);
      CHECK(value("focus_entropy") <= std::log(3.0) + 1e-6);
      CHECK(value("saif") <= value("accuracy"));
    }
    CHECK(log.number(row, "seconds") > 0);
    CHECK(log.number(row, "focus_gradient") > 0);
    CHECK(std::isfinite(log.number(row, "incentive")));
    CHECK(log.number(row, "classify_forward") == 1);  // soft attention
    CHECK(log.number(row, "classify_backward") == 1);
  }
}

TEST_CASE("summary.json says what was trained and how it ended, as the log does", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run --loss ha --seed 3"));
  const nlohmann::json summary = read_json(folder.file("run/summary.json"));
  const Table log = read_table(folder.file("run/log.csv"));
  CHECK(summary["run"] == "run");
  CHECK_THAT(summary["data"].get<std::string>(), Catch::StartsWith("npy:"));
  CHECK(summary["loss"] == "ha");
  CHECK(summary["seed"] == 3);
  CHECK(summary["epochs"] == 2);
  CHECK(summary["seconds"].get<double>() == Approx(log.number(0, "seconds") + log.number(1, "seconds")));
  CHECK(summary["train"]["n"] == 200);
  CHECK(summary["test"]["n"] == 100);
  for (const std::string name : {"accuracy", "ftpt", "focus_mean", "focus_entropy", "saif"}) {
    CHECK(summary["train"][name].get<double>() == log.number(1, name));
    CHECK(summary["test"][name].get<double>() == log.number(1, "test_" + name));
  }
  CHECK(summary["test"]["loss_value"].get<double>() == log.number(1, "test_loss"));
}

TEST_CASE("--eval-every leaves the cells of epochs without a test empty", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out two --epochs 3 --eval-every 2"));
  const Table log = read_table(folder.file("two/log.csv"));
  CHECK(log.text(0, "test_loss").empty());
  CHECK(log.text(0, "test_saif").empty());
  CHECK_FALSE(log.text(1, "test_loss").empty());
  CHECK_FALSE(log.text(2, "test_loss").empty());  // the last, always
  run_well(training(folder, "--out never --eval-every 0"));
  CHECK(read_table(folder.file("never/log.csv")).text(1, "test_loss").empty());
  CHECK(read_json(folder.file("never/summary.json"))["test"].is_null());
}

TEST_CASE("config.toml of a run makes the same bytes again", "[train]") {
  const TemporaryFolder folder;
  run_well(command(folder,
                   "fcam-train --data shapes --focus mlp --classify mlp --train 200 --test 100 --patches 3 --epochs 2 "
                   "--out first --loss lv --optimizer adam --lr 0.003 --batch 64 --seed 5 --draws numpy "
                   "--foreground disk,cross --background stripes,bars"));
  run_well(command(folder, "fcam-train --config first/config.toml --out second"));
  CHECK(model_of(folder.file("first")) == model_of(folder.file("second")));
  CHECK(read_file(folder.file("first/config.toml")) == read_file(folder.file("second/config.toml")));
  CHECK(log_without_seconds(folder.file("first/log.csv")) == log_without_seconds(folder.file("second/log.csv")));
  run_well(command(folder, "fcam-train --config first/config.toml --out third --seed 6"));
  CHECK(model_of(folder.file("first")) != model_of(folder.file("third")));
}

TEST_CASE("linear data follow --classes, --patches and --train, and get linear networks without biases", "[train]") {
  const TemporaryFolder folder;
  const std::string options = "--data linear --patches 4 --classes 3 --train 200 --test 50 --epochs 3 --lr 1";
  run_well(command(folder, "fcam-train --out run --loss lv " + options));
  const std::string config = read_file(folder.file("run/config.toml"));
  CHECK_THAT(config, Contains("focus = \"linear nobias\"\n") && Contains("classify = \"linear nobias\"\n"));
  CHECK_THAT(config, Contains("classes = 3\n") && Contains("patches = 4\n"));
  const Table log = read_table(folder.file("run/log.csv"));
  CHECK(log.number(2, "loss") < log.number(0, "loss"));
  run_well(command(folder, "fcam-train --config run/config.toml --out again"));
  CHECK(model_of(folder.file("run")) == model_of(folder.file("again")));
  run_well(command(folder, "fcam-evaluate run --json run.json"));
  CHECK(read_json(folder.file("run.json"))["n"] == 50);
  CHECK_THAT(error_of(command(folder, "fcam-train --data linear --classes 0"), 2), Contains("classes"));
}

TEST_CASE("every number of threads makes the same bytes", "[train]") {
  const TemporaryFolder folder;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    for (const std::string threads : {"1", "2", "3"}) {
      run_well(training(
          folder, "--epochs 1 --batch 100 --loss " + loss + " --threads " + threads + " --out " + loss + threads));
    }
    for (const std::string other : {"2", "3"}) {
      CHECK(model_of(folder.file(loss + "1")) == model_of(folder.file(loss + other)));
      CHECK(log_without_seconds(folder.file(loss + "1/log.csv")) ==
            log_without_seconds(folder.file(loss + other + "/log.csv")));
    }
  }
}

TEST_CASE("options on the command line win over the configuration file", "[train]") {
  const TemporaryFolder folder;
  write_file(folder.file("c.toml"),
             "# comment\nepochs = 9\nloss = \"ha\" # comment\nout = \"a b # c\"\nthreads = 1\nquiet = true\n");
  const Result result = run_well(training(folder, "--epochs 1 --config c.toml"));
  CHECK(result.err.empty());
  CHECK(read_table(folder.file("a b # c/log.csv")).rows.size() == 1);
  CHECK(read_json(folder.file("a b # c/summary.json"))["loss"] == "ha");
}

TEST_CASE("a key of another program or an unknown one in the configuration is refused", "[train]") {
  const TemporaryFolder folder;
  write_file(folder.file("c.toml"), "learning_rat = 1\n");
  CHECK_THAT(error_of(training(folder, "--config c.toml"), 2),
             Contains("'c.toml' line 1") && Contains("'learning_rat'"));
  write_file(folder.file("c.toml"), "lr = 0.1\nbins = 3\n");
  CHECK_THAT(error_of(training(folder, "--config c.toml"), 2), Contains("'c.toml' line 2") && Contains("'bins'"));
  CHECK_THAT(error_of(training(folder, "--config none.toml"), 2), Contains("none.toml"));
  CHECK(files_in(folder.path().string()) == std::vector<std::string>{"c.toml"});
}

TEST_CASE("any name will do for the folder of a run, in any locale, and nothing in it is executed", "[train]") {
  const TemporaryFolder folder;
  const std::vector<std::string> names{"a b",       "it's (1) [x]", "`touch pwned`", "$(touch pwned)", "caf\xe9",
                                       "d\xc3\xa9", "x;y|z \"q\"",  "-dash",         "new\nline",      "100%s"};
  for (const std::string& name : names) {
    INFO(name);
    Command odd = training(folder, "--epochs 1", {"--out=" + name});
    odd.environment = {{"LC_ALL", name.size() % 2 == 0 ? "C" : "de_DE.UTF-8"}};
    run_well(odd);
    CHECK(files_in(folder.file(name)) == run_files);
    CHECK(read_json(folder.file(name) + "/summary.json")["epochs"] == 1);
    const Result table =
        run_well(command(folder, "fcam-evaluate", {"--json", name + "/e.json", "--plot", name + "/e.svg", "--", name}));
    CHECK(read_json(folder.file(name) + "/e.json")["n"] == 100);
    CHECK(fs::exists(folder.file(name) + "/e.svg"));
  }
  CHECK(files_in(folder.path().string()).size() == names.size());
}

TEST_CASE("progress without a terminal is plain lines, one an epoch, and none when quiet", "[train]") {
  const TemporaryFolder folder;
  const Result plain = run_well(training(folder, "--out plain --epochs 3"));
  CHECK(plain.err.find_first_of("\r\x1b") == std::string::npos);
  const auto lines = split(plain.err, '\n');
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "run 'plain'");
  for (std::size_t epoch = 1; epoch <= 3; ++epoch) {
    CHECK_THAT(lines[epoch],
               Catch::StartsWith("epoch " + std::to_string(epoch) + "/3  train loss ") && Contains("test loss"));
  }
  const Result quiet = run_well(training(folder, "--out quiet --quiet"));
  CHECK(quiet.err.empty());
  CHECK(quiet.out.empty());
}

TEST_CASE("--dry-run says what would be trained and writes nothing", "[train]") {
  const TemporaryFolder folder;
  const Result result = run_well(training(folder, "--dry-run --out run --loss ha --batch 64"));
  CHECK_THAT(result.out, Contains("200 mosaics of 3 patches 1x6x6") && Contains("'0' '1' '2'") && Contains("weights") &&
                             Contains("learning rate 0.01") && Contains("4 an epoch"));
  CHECK_THAT(run_well(training(folder, "--dry-run --batch 18446744073709551615")).out, Contains("1 an epoch"));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("--init starts from the weights of a file, and the run remembers", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out first"));
  run_well(training(folder, "--out same --lr 0 --init first/model.safetensors --seed 9"));
  CHECK(model_of(folder.file("first")) == model_of(folder.file("same")));
  CHECK_THAT(read_file(folder.file("same/config.toml")), Contains("init = \"first/model.safetensors\""));
  run_well(command(folder, "fcam-train --config same/config.toml --out again"));
  CHECK(model_of(folder.file("again")) == model_of(folder.file("same")));
  run_well(command(folder, "fcam-evaluate same"));
}

TEST_CASE("--init with weights of another network, or none, is exit code 3 and starts no run", "[train]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out first --epochs 1"));
  const std::string init = "--out second --init first/model.safetensors ";
  CHECK_THAT(error_of(training(folder, init + "--foreground 0,1"), 3),
             Contains("first/model.safetensors") && Contains("classify."));
  CHECK_THAT(error_of(command(folder, "fcam-train" + tiny_data() + init + "--focus linear --classify mlp"), 3),
             Contains("focus.") && Contains("--focus"));
  CHECK_THAT(error_of(training(folder, "--out second --init none.safetensors"), 3), Contains("none.safetensors"));
  write_file(folder.file("short"), model_of(folder.file("first")).substr(0, 1000));
  CHECK_THAT(error_of(training(folder, "--out second --init short"), 3), Contains("'short'"));
  CHECK_FALSE(fs::exists(folder.file("second")));
}

TEST_CASE("a learning rate that is far too large is exit code 5 naming epoch and step", "[train]") {
  const TemporaryFolder folder;
  const Result result = run(training(folder, "--out run --lr 1e6 --epochs 50 --batch 50"));
  CHECK(result.code == 5);
  CHECK_THAT(result.err, Contains("fcam-train: error: epoch ") && Contains(", batch ") && Contains("finite loss"));
  CHECK_FALSE(fs::exists(folder.file("run/model.safetensors")));
}

TEST_CASE("a run whose test loss is not finite has diverged, and leaves no weights", "[train]") {
  const TemporaryFolder folder;
  const Result result = run(command(folder, "fcam-train" + tiny() + "--epochs 1 --batch 200 --lr 1e30 --out run"));
  CHECK(result.code == 5);
  CHECK_THAT(result.err, Contains("epoch 1, test mosaics: expected a finite loss"));
  CHECK_FALSE(fs::exists(folder.file("run/model.safetensors")));
  CHECK_FALSE(fs::exists(folder.file("run/checkpoint.safetensors")));
}

TEST_CASE("one foreground class is learnt at once", "[train]") {
  const TemporaryFolder folder;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    run_well(training(folder, "--foreground 0 --out " + loss + " --loss " + loss));
    CHECK(read_json(folder.file(loss + "/summary.json"))["train"]["accuracy"] == 1.0);
  }
}

TEST_CASE("a folder that cannot be made is exit code 4 and names it", "[train]") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "content");
  CHECK_THAT(error_of(training(folder, "--out file"), 4), Contains("'file'"));
  CHECK_THAT(error_of(training(folder, "--out file/run"), 4), Contains("'file/run'"));
  CHECK_THAT(error_of(training(folder, "--out /proc/fcam/run"), 4), Contains("/proc/fcam/run"));
  CHECK(read_file(folder.file("file")) == "content");
  if (geteuid() == 0) return;  // who may write everywhere
  fs::create_directory(folder.file("locked"));
  fs::permissions(folder.file("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THAT(error_of(training(folder, "--out locked/run"), 4), Contains("locked/run"));
}

TEST_CASE("a focus that stays uniform, and one prediction for all, are warned about once each, unless quiet",
          "[train]") {
  const TemporaryFolder folder;
  // Linear networks of zeros see everything alike, and learn nothing at a learning rate of 0.
  run_well(command(folder, "fcam-train --focus linear --classify linear --epochs 1 --out init" + tiny_data()));
  fcam::SafeTensors weights = fcam::read_safetensors(folder.file("init/model.safetensors"));
  for (auto& tensor : weights.tensors) std::fill(tensor.values.begin(), tensor.values.end(), 0.0F);
  fcam::write_safetensors(folder.file("zero"), weights);
  const std::string options =
      "fcam-train --focus linear --classify linear --lr 0 --epochs 9 --init zero --force --out run" + tiny_data();
  const std::string text = run_well(command(folder, options)).err;
  const std::string uniform =
      "fcam-train: warning: epoch 5: the focus has been nearly uniform (entropy 1.0986 of at most ";
  const std::string one_class =
      "fcam-train: warning: epoch 5: 100.0% of the mosaics have been predicted to be '0', which ";
  CHECK_THAT(text, Contains(uniform) && Contains(one_class));
  std::size_t warnings = 0;
  for (const std::string& line : split(text, '\n')) warnings += line.find("warning") != std::string::npos;
  CHECK(warnings == 2);
  CHECK(run_well(command(folder, options + " --quiet")).err.empty());
  const std::string well = run_well(training(folder, "--epochs 9 --batch 20 --lr 0.05 --out well")).err;
  CHECK_THAT(well, !Contains("warning"));
}

TEST_CASE("a disk that is full is exit code 4 and leaves nothing half-written", "[train]") {
  const TemporaryFolder folder;
  Result result;
  {
    const FullDisk disk(8000);
    result = run(training(folder, "--out run"));
  }
  CHECK(result.code == 4);
  CHECK_THAT(result.err, Contains("checkpoint.safetensors"));
  CHECK(files_in(folder.file("run")) == std::vector<std::string>{"config.toml", "log.csv", "summary.json"});
}

TEST_CASE("with one patch all losses are the same cross-entropy", "[train]") {
  const TemporaryFolder folder;
  std::vector<double> losses;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    run_well(command(folder, "fcam-train" + tiny_source() +
                                 "--focus mlp --classify mlp --train 200 --test 100 --patches 1 "
                                 "--epochs 1 --lr 0 --out " +
                                 loss + " --loss " + loss));
    const Table log = read_table(folder.file(loss + "/log.csv"));
    losses.push_back(log.number(0, "loss"));
    CHECK(log.number(0, "focus_mean") == Approx(1));
    CHECK(log.number(0, "ftpt") + log.number(0, "ftpf") == Approx(1));
  }
  CHECK(std::abs(losses[0] - losses[1]) <= 1e-6);
  CHECK(std::abs(losses[0] - losses[2]) <= 1e-6);
}

TEST_CASE("the mean loss of an epoch does not depend on how the mosaics fall into batches", "[train]") {
  const TemporaryFolder folder;
  std::vector<double> losses;
  for (const std::string batch : {"257", "256", "1000", "50"}) {
    run_well(command(folder, "fcam-train" + tiny_source() +
                                 "--focus linear --classify mlp --train 257 --test 100 --patches 3 "
                                 "--epochs 1 --lr 0 --out b" +
                                 batch + " --batch " + batch));
    losses.push_back(read_table(folder.file("b" + batch + "/log.csv")).number(0, "loss"));
    CHECK(std::abs(losses.back() - losses.front()) <= 1e-6);
  }
}
