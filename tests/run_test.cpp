// tests/run.sh from outside, on a program that is no more than it needs. Tests run at the top of the project.
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "support/runs.h"

namespace fs = std::filesystem;
using namespace fcam::test;

namespace {

// Stands for the tests: says their names, and does `work` for each part of them.
Command run_tests(const TemporaryFolder& folder, const std::string& work) {
  const std::string program = folder.file("program");
  write_file(program, "#!/bin/sh\nif [ \"$1\" = --list-test-names-only ]; then echo one; exit 1; fi\n" + work);
  fs::permissions(program, fs::perms::owner_all);
  fs::create_directory(folder.path() / "tmp");
  return {.arguments = {fs::absolute("tests/run.sh").string(), program},
          .folder = folder.path().string(),
          .environment = {{"TMPDIR", folder.file("tmp")}}};
}

}  // namespace

TEST_CASE("tests that are stopped by a signal leave no file and no program that runs on", "[run]") {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const TemporaryFolder folder;
    Process process(run_tests(folder,
                              "mktemp > left\n"
                              "sh -c 'trap \"touch told; exit\" TERM; touch started; while :; do sleep 0.01; done'\n"));
    while (!fs::exists(folder.file("started"))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    process.send(signal);
    CHECK(process.wait().code == 128 + signal);
    CHECK(fs::exists(folder.file("told")));
    CHECK(fs::exists(folder.file("left")));
    CHECK(fs::is_empty(folder.file("tmp")));
  }
}

TEST_CASE("tests that pass, fail or crash are told apart", "[run]") {
  for (const auto& [work, code, last] :
       {std::tuple("echo '1 passed, 0 failed'", 0, "1 passed, 0 failed\n"),
        {"echo a reason; echo '0 passed, 1 failed'; exit 1", 1, "0 passed, 1 failed\n"},
        {"kill -9 $$", 1, "0 passed, 1 failed\n"}}) {
    const TemporaryFolder folder;
    const Result result = run(run_tests(folder, work));
    CHECK(result.code == code);
    CHECK_THAT(result.out, Catch::EndsWith(last));
    CHECK(fs::is_empty(folder.file("tmp")));
  }
}
