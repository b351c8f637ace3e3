// Output that fails, at every call and after any number of bytes: exit code 4 with a reason, former files intact,
// nothing half-written under a final name. tests/support/faulty_disk.cpp is what fails.
#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "fcam/training/safetensors.h"
#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> calls{"open", "write", "fsync", "close", "rename"};

// A command whose output fails from a moment on, for example "write 3 28".
Command with_fault(Command command, const std::string& fault) {
  const char* bin = std::getenv("FCAM_BIN");
  const fs::path library = fs::absolute(fs::path(bin != nullptr ? bin : "build/bin") / "../faulty-disk.so");
  REQUIRE(fs::exists(library));
  const char* options = std::getenv("ASAN_OPTIONS");  // AddressSanitizer wants to be the first library, needlessly
  command.environment.emplace_back("ASAN_OPTIONS",
                                   (options != nullptr ? std::string(options) + ":" : "") + "verify_asan_link_order=0");
  command.environment.emplace_back("LD_PRELOAD", library.string());
  command.environment.emplace_back("FCAM_FAULT", fault);
  return command;
}

std::string fault_at(const std::string& call, std::size_t moment) {
  return call + " " + std::to_string(moment) + " " + std::to_string(call == "fsync" ? EIO : ENOSPC);
}

void check_write_error(const Result& result, const std::string& program) {
  CHECK(result.code == 4);
  CHECK_THAT(result.err, Contains(program + ": error: ") && Contains("expected to write it, found: "));
  CHECK(
      (result.err.find("No space left") != std::string::npos || result.err.find("Input/output") != std::string::npos));
}

// Whether every file in the folder of a run is whole, with no temporary beside it.
void check_whole(const std::string& run) {
  if (!fs::exists(run)) return;
  for (const auto& [name, bytes] : contents_of(run)) {
    INFO(name);
    CHECK_FALSE(name.ends_with(".tmp"));
    const std::string path = run + "/" + name;
    if (name.ends_with(".safetensors")) CHECK_NOTHROW(fcam::read_safetensors(path));
    if (name == "log.csv") CHECK_NOTHROW(read_table(path));
    if (name == "summary.json") CHECK_NOTHROW(read_json(path));
    if (name == "config.toml") CHECK_THAT(bytes, Contains("patches = 3\n") && Catch::EndsWith("seed = 1\n"));
  }
}

// Trains into `run` from wherever it is, undisturbed.
void train_to_the_end(const TemporaryFolder& folder, const std::string& options) {
  const bool there = fs::exists(folder.file("run/config.toml"));
  const bool partly = fs::exists(folder.file("run")) && !fs::is_empty(folder.file("run"));
  run_well(training(folder, options + "--out run" + (there ? " --resume" : partly ? " --force" : "")));
}

// Runs a command that writes `files`, all there before with the content "former", and lets it fail at every moment.
void check_every_fault(const TemporaryFolder& folder, const Command& command, const std::vector<std::string>& files) {
  run_well(command);
  std::vector<std::string> whole;
  for (const std::string& file : files) whole.push_back(read_file(folder.file(file)));
  const auto fails_at = [&](const std::string& fault) {
    INFO(fault);
    for (const std::string& file : files) write_file(folder.file(file), "former");
    const Result result = run(with_fault(command, fault));
    if (result.code == 0) return false;
    check_write_error(result, command.arguments[0]);
    bool all_new = true;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string now = read_file(folder.file(files[i]));
      INFO(files[i]);
      CHECK((now == "former" || now == whole[i]));
      all_new &= now != "former";
      CHECK_FALSE(fs::exists(folder.file(files[i] + ".tmp")));
    }
    CHECK_FALSE(all_new);
    return true;
  };
  for (const std::string& call : calls) {
    std::size_t moment = 1;
    while (fails_at(fault_at(call, moment))) REQUIRE(++moment < 100);
    CHECK(moment > files.size());  // each file makes each call
  }
  for (const std::size_t bytes : {0, 1, 50}) CHECK(fails_at(fault_at("bytes", bytes)));
}

}  // namespace

TEST_CASE("fcam-train whose output fails at any call leaves a run that --resume brings to the same bytes", "[faults]") {
  const std::string options = "--batch 100 --patience 1 ";
  const TemporaryFolder undisturbed;
  train_to_the_end(undisturbed, options);
  for (const std::string& call : calls) {
    const std::size_t step = call == "open" || call == "close" ? 4 : 1;  // which are many
    for (std::size_t moment = 1;; moment += step) {
      INFO(call << " " << moment);
      REQUIRE(moment < 100);
      const TemporaryFolder folder;
      const Result result = run(with_fault(training(folder, options + "--out run"), fault_at(call, moment)));
      check_whole(folder.file("run"));
      if (result.code == 0) {
        CHECK(moment > 7);  // config, log, two summaries and checkpoints, the model
        break;
      }
      check_write_error(result, "fcam-train");
      train_to_the_end(folder, options);
      check_same_run(undisturbed.file("run"), folder.file("run"));
    }
  }
}

TEST_CASE("fcam-train whose disk is full after any number of bytes leaves a run that --resume finishes", "[faults]") {
  const std::string options = "--batch 100 ";
  const TemporaryFolder undisturbed;
  train_to_the_end(undisturbed, options);
  std::size_t total = 0;
  for (const auto& [name, bytes] : contents_of(undisturbed.file("run"))) total += bytes.size();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{6}, std::size_t{300}, std::size_t{700}, std::size_t{1500},
                                  total / 4, total / 2, 3 * total / 4, total}) {
    INFO(bytes);
    const TemporaryFolder folder;
    check_write_error(run(with_fault(training(folder, options + "--out run"), fault_at("bytes", bytes))), "fcam-train");
    check_whole(folder.file("run"));
    train_to_the_end(folder, options);
    check_same_run(undisturbed.file("run"), folder.file("run"));
  }
}

TEST_CASE("a run that goes on or is to be replaced keeps what it has where the disk is full from the start",
          "[faults]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  for (const std::string options : {"--force --out run", "--resume --epochs 3 --out run"}) {
    for (const std::string fault : {"open 1 30", "bytes 0 28", "write 1 28"}) {
      INFO(options << " " << fault);
      const Result result = run(with_fault(training(folder, options), fault));
      CHECK(result.code == 4);
      CHECK_THAT(result.err, Contains(fault == "open 1 30" ? "Read-only file system" : "No space left on device"));
      CHECK(contents_of(folder.file("run")) == before);
    }
  }
  // The weights of the end so far are in the checkpoint, too, when the run goes on and fails later.
  const std::string fault = fault_at("rename", 3);
  CHECK(run(with_fault(training(folder, "--resume --epochs 3 --out run"), fault)).code == 4);
  check_whole(folder.file("run"));
  CHECK(read_file(folder.file("run/checkpoint.safetensors")) == before.at("checkpoint.safetensors"));
}

TEST_CASE("--force leaves the whole of a run of which one file cannot be removed", "[faults]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  const Contents before = contents_of(folder.file("run"));
  for (const auto& [name, bytes] : before) {
    Command command = with_fault(training(folder, "--force --out run"), "none 0 0");
    command.environment.emplace_back("FCAM_KEPT", name);
    const Result result = run(command);
    CHECK(result.code == 4);
    CHECK_THAT(result.err, Contains("'run/" + name + "': expected to remove it, found: Operation not permitted"));
    CHECK(contents_of(folder.file("run")) == before);
  }
}

TEST_CASE("files of fcam-evaluate are the former or the new ones, whatever fails", "[faults]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  check_every_fault(folder, command(folder, "fcam-evaluate run --json e.json --csv e.csv --dump d.csv --plot p.svg"),
                    {"e.json", "e.csv", "d.csv", "p.svg"});
}

TEST_CASE("files of fcam-mosaic are the former or the new ones, whatever fails", "[faults]") {
  const TemporaryFolder folder;
  check_every_fault(folder, command(folder, "fcam-mosaic --csv m.csv --png m.png" + tiny_data()), {"m.csv", "m.png"});
}

TEST_CASE("an export of npy files over an older one leaves the older, the new one or none, whatever fails",
          "[faults]") {
  const TemporaryFolder folder;
  const auto prepare = [&](const std::string& shape, const std::string& name) {
    run_well(command(folder, "fcam-mosaic --data shapes --train 9 --test 6 --npy " + name + " " + shape));
  };
  prepare("--patches 2 --foreground 0,1", "old");
  prepare("--patches 2 --foreground 5,3", "new");
  for (const std::string split : {"train", "test"}) fs::remove(folder.file("new/z_" + split + ".npy"));
  const auto looks = [&](const std::string& name) {
    const Result result = run(command(folder, "fcam-mosaic --data npy:" + name));
    const std::string path = "npy:" + name;
    std::string text = result.out;
    for (std::size_t at; (at = text.find(path)) != std::string::npos;) text.erase(at, path.size());
    if (result.code != 0) CHECK_THAT(result.err, Contains("expected one of x_train.npy, x.npy"));
    return result.code == 0 ? text : std::to_string(result.code);
  };
  const std::string older = looks("old"), newer = looks("new");
  CHECK(older != newer);
  bool kept = false, gone = false;
  for (const std::string& call : calls) {
    for (std::size_t moment = 1;; ++moment) {
      INFO(call << " " << moment);
      REQUIRE(moment < 100);
      fs::remove_all(folder.file("bags"));
      fs::copy(folder.file("old"), folder.file("bags"));
      const Result result =
          run(with_fault(command(folder, "fcam-mosaic --data npy:new --npy bags"), fault_at(call, moment)));
      const std::string now = looks("bags");
      CHECK((now == older || now == newer || now == "3"));
      CHECK_FALSE(fs::exists(folder.file("bags/x_train.npy.tmp")));
      if (result.code == 0) {
        CHECK(now == newer);
        CHECK(moment > 5);  // five files
        break;
      }
      check_write_error(result, "fcam-mosaic");
      kept |= now == older;
      gone |= now == "3";
    }
  }
  CHECK(kept);
  CHECK(gone);
}

TEST_CASE("files of fcam-flow are the former or the new ones, whatever fails", "[faults]") {
  const TemporaryFolder folder;
  check_every_fault(folder, command(folder, "fcam-flow --points 5 --csv f.csv --plot f.svg"), {"f.csv", "f.svg"});
}

TEST_CASE("files of fcam-report are the former or the new ones, whatever fails", "[faults]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run"));
  run_well(command(folder, "fcam-flow --points 5 --csv f.csv"));
  const Command report = command(folder, "fcam-report run f.csv --out r");
  run_well(report);
  std::vector<std::string> files{"r/report.md", "r/report.html"};
  for (const auto& [name, bytes] : contents_of(folder.file("r/figures"))) files.push_back("r/figures/" + name);
  CHECK(files.size() > 4);
  check_every_fault(folder, report, files);
}

TEST_CASE("fcam-fixed-focus whose output fails at any call leaves a run that --resume brings to the same bytes",
          "[faults]") {
  const std::string options =
      "fcam-fixed-focus --data linear --classes 3 --patches 3 --train 30 --epochs 2 --loss sa,lv ";
  const auto train = [&](const TemporaryFolder& folder, const std::string& more) {
    return command(folder, options + "--alpha 0.5,1 --out run " + more);
  };
  const TemporaryFolder undisturbed;
  run_well(train(undisturbed, ""));
  const Contents whole = contents_of(undisturbed.file("run"));
  for (const std::string& call : calls) {
    for (std::size_t moment = 1;; ++moment) {
      INFO(call << " " << moment);
      REQUIRE(moment < 100);
      const TemporaryFolder folder;
      const Result result = run(with_fault(train(folder, ""), fault_at(call, moment)));
      if (result.code == 0) {
        CHECK(moment > 9);  // the options, two tables after each of four trainings
        break;
      }
      check_write_error(result, "fcam-fixed-focus");
      if (fs::exists(folder.file("run"))) {
        for (const auto& [name, bytes] : contents_of(folder.file("run"))) CHECK_FALSE(name.ends_with(".tmp"));
      }
      run_well(train(folder, "--resume"));
      CHECK(contents_of(folder.file("run")) == whole);
    }
  }
}

TEST_CASE("the file of fcam-bench is the former or the new one, whatever fails", "[faults]") {
  const TemporaryFolder folder;
  const Command bench = command(folder,
                                "fcam-bench --loss lv --shape 6 --patches 2 --batch 4 --steps 1 --focus linear "
                                "--classify linear --json b.json");
  write_file(folder.file("b.json"), "former");
  for (const std::string call : {"open", "rename"}) {  // before the work, and after it
    check_write_error(run(with_fault(bench, fault_at(call, 1))), "fcam-bench");
    CHECK(contents_of(folder.path().string()) == Contents{{"b.json", "former"}});
  }
}
