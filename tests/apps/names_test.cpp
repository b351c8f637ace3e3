// Class names and paths that are hostile or no UTF-8: shown as typed, nothing executed, every file valid.
#include <catch2/catch.hpp>

#include <filesystem>

#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> class_names{"`touch pwned`", "$(touch pwned)",     "a_b^2", "caf\xe9", "x,y \"z\"",
                                           "it's\\n",       "d\xc3\xa9j\xc3\xa0", "%s%n",  "'; !rm",  "last"};

// CIFAR-10 with those names, 20 images a file.
void write_cifar(const std::string& folder) {
  fs::create_directory(folder);
  for (const std::string name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::string bytes;
    for (int i = 0; i < 20; ++i)
      bytes += static_cast<char>(i % 10) + std::string(3072, static_cast<char>(25 * (i % 10)));
    write_file(folder + "/" + name + ".bin", bytes);
  }
  std::string names;
  for (const std::string& name : class_names) names += name + "\n";
  write_file(folder + "/batches.meta.txt", names);
}

bool is_executed(const TemporaryFolder& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "pwned") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("classes with hostile names and names that are no UTF-8 are trained, evaluated, drawn and reproduced",
          "[names]") {
  const TemporaryFolder folder;
  write_cifar(folder.file("a b's`x`"));
  const std::string data = "cifar10:a b's`x`";
  const std::vector<std::string> foreground{"--foreground=`touch pwned`,caf\xe9,it's\\n,a_b^2"};
  Command train =
      command(folder, "fcam-train --focus linear --classify linear --train 60 --test 40 --epochs 2 --out run",
              {"--data", data, foreground[0]});
  train.environment = {{"LC_ALL", "POSIX"}};
  run_well(train);
  run_well(command(folder, "fcam-train --config run/config.toml --out again"));
  check_same_run(folder.file("run"), folder.file("again"));
  CHECK(read_json(folder.file("run/summary.json"))["data"] == data);

  const Result shown =
      run_well(command(folder, "fcam-evaluate run --json e.json --csv e.csv --dump d.csv --plot p.svg"));
  CHECK_THAT(shown.out,
             Contains("'`touch pwned`' ") && Contains("'caf\xe9' ") && Contains("'it's\\n' ") && Contains("'a_b^2' "));
  CHECK(read_json(folder.file("e.json"))["n"] == 40);
  CHECK(read_table(folder.file("d.csv")).rows.size() == 40);
  CHECK(fs::exists(folder.file("p.svg")));
  Command mosaic = command(folder, "fcam-mosaic --train 60 --test 40 --show 2 --csv m.csv --png m.png",
                           {"--data", data, foreground[0]});
  mosaic.environment = {{"LC_ALL", "C"}};
  CHECK_THAT(run_well(mosaic).out, Contains("`touch pwned`"));
  CHECK_FALSE(is_executed(folder));
}

TEST_CASE("a comma and quotes in a class name are chosen through a configuration file", "[names]") {
  const TemporaryFolder folder;
  write_cifar(folder.file("data"));
  write_file(folder.file("c.toml"), "foreground = ['x,y \"z\"', \"'; !rm\"]\n");
  run_well(command(folder,
                   "fcam-train --data cifar10:data --config c.toml --focus linear --classify linear --train 60 "
                   "--test 40 --epochs 1 --out run"));
  CHECK_THAT(read_file(folder.file("run/config.toml")), Contains("foreground = [\"x,y \\\"z\\\"\", \"'; !rm\"]\n"));
  CHECK_THAT(run_well(command(folder, "fcam-evaluate run")).out, Contains("'x,y \"z\"' "));
}

TEST_CASE("a folder whose path is no UTF-8 holds valid JSON, also when it is worked in", "[names]") {
  const TemporaryFolder folder;
  const std::string odd = "caf\xe9 `touch pwned`";
  fs::create_directory(folder.file(odd));
  for (const char* locale : {"C", "POSIX", "C.UTF-8"}) {
    Command train = training(folder, "--epochs 1 --force", {"--out", odd + "/run"});
    train.environment = {{"LC_ALL", locale}};
    run_well(train);
    const nlohmann::json summary = read_json(folder.file(odd) + "/run/summary.json");
    CHECK(summary["run"] == "caf\xef\xbf\xbd `touch pwned`/run");
    Command evaluate = command(folder, "fcam-evaluate run --json e.json --csv e.csv --plot p.svg");
    evaluate.folder = folder.file(odd);
    evaluate.environment = {{"LC_ALL", locale}};
    run_well(evaluate);
    CHECK(read_json(folder.file(odd) + "/e.json")["run"] == "run");
    run_well(command(folder, "fcam-evaluate --json f.json", {odd + "/run"}));
    CHECK(read_json(folder.file("f.json"))["n"] == 100);
  }
  CHECK_FALSE(is_executed(folder));
}

TEST_CASE("values that are no number are null in JSON and empty in CSV, and are read back so", "[names]") {
  const TemporaryFolder folder;  // without positions nothing is known of the focus
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 60; ++i) labels.push_back(i % 3);
  for (const std::string split : {"train", "test"}) {
    fcam::write_npy(folder.file("x_" + split + ".npy"), {60, 2, 1, 2, 2}, std::vector<float>(480, 0.5F));
    fcam::write_npy(folder.file("y_" + split + ".npy"), {60}, labels);
  }
  const std::string options = "fcam-train --data npy:. --focus linear --classify linear --out ";
  run_well(command(folder, options + "whole --epochs 3"));
  run_well(command(folder, options + "parts --epochs 1"));
  CHECK(read_json(folder.file("parts/summary.json"))["train"]["saif"].is_null());
  CHECK(read_table(folder.file("parts/log.csv")).text(0, "saif").empty());
  run_well(command(folder, options + "parts --epochs 3 --resume"));
  check_same_run(folder.file("whole"), folder.file("parts"));
}
