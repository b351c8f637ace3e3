// data/fetch.sh, from a mirror in a folder.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "data/data_files.h"
#include "support/cifar100.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

struct Mirror {
  TemporaryFolder folder;

  Mirror() { fs::create_directory(folder.file("mirror")); }

  std::string path(const std::string& name) const { return folder.file("mirror/" + name); }
  Command shell(const std::string& script) const {
    return {.arguments = {"/bin/sh", "-c", script}, .folder = folder.path().string()};
  }
  void write_sums() const { run_well(shell("cd mirror && md5sum * > sums && mv sums MD5SUMS")); }
  // cifar-100-binary.tar.gz and its checksum.
  void pack_cifar100() const {
    fs::create_directory(folder.file("cifar-100-binary"));
    write_cifar100(folder.file("cifar-100-binary"), 1);
    run_well(shell("tar -czf mirror/cifar-100-binary.tar.gz cifar-100-binary && rm -r cifar-100-binary"));
    write_sums();
  }
  Command fetch(std::vector<std::string> arguments, const std::string& url = "") const {
    const char* tests = std::getenv("FCAM_TESTS");
    const std::string script =
        fs::absolute(std::string(tests != nullptr ? tests : "tests") + "/../data/fetch.sh").string();
    Command command{.arguments = {"/bin/sh", script},
                    .folder = folder.path().string(),
                    .environment = {{"FCAM_MIRROR", url.empty() ? "file://" + folder.file("mirror") : url}}};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return command;
  }
};

}  // namespace

TEST_CASE("fetch.sh brings CIFAR-100 from a mirror, ready to read, and leaves nothing else", "[fetch]") {
  const Mirror mirror;
  mirror.pack_cifar100();
  const Result result = run_well(mirror.fetch({"cifar100", "a b"}));
  CHECK_THAT(result.err, Contains("MD5SUMS") && Contains("is complete"));
  CHECK(std::distance(fs::directory_iterator(mirror.folder.file("a b")), {}) == 1);
  CHECK_THAT(run_well(command(mirror.folder, "fcam-mosaic --data", {"cifar100:a b/cifar-100-binary"})).out,
             Contains("train: 100 items of 3x32x32"));
  fs::remove_all(mirror.path(""));
  CHECK_THAT(run_well(mirror.fetch({"cifar100", "a b"})).err, Contains("already there"));
}

TEST_CASE("fetch.sh goes on where it was interrupted", "[fetch]") {
  const Mirror mirror;
  mirror.pack_cifar100();
  const std::string archive = read_file(mirror.path("cifar-100-binary.tar.gz"));
  fs::create_directory(mirror.folder.file("data"));
  const std::string part = mirror.folder.file("data/cifar-100-binary.tar.gz.part");
  // The first bytes are there; only those that are missing are taken from the mirror.
  write_file(part, archive.substr(0, 5000));
  std::string damaged = archive;
  damaged.replace(0, 5000, std::string(5000, 'x'));
  write_file(mirror.path("cifar-100-binary.tar.gz"), damaged);
  run_well(mirror.fetch({"cifar100", "data"}));
  CHECK(fs::exists(mirror.folder.file("data/cifar-100-binary/train.bin")));

  // All bytes are there, only the name is missing.
  fs::remove_all(mirror.folder.file("data/cifar-100-binary"));
  write_file(part, archive);
  fs::remove(mirror.path("cifar-100-binary.tar.gz"));
  run_well(mirror.fetch({"cifar100", "data"}));
  CHECK(fs::exists(mirror.folder.file("data/cifar-100-binary/train.bin")));

  // Nothing to connect to: what is there stays.
  fs::remove_all(mirror.folder.file("data/cifar-100-binary"));
  write_file(part, archive.substr(0, 5000));
  const Result result = run(mirror.fetch({"cifar100", "data"}, "file:///nowhere"));
  CHECK(result.code == 1);
  CHECK_THAT(result.err, Contains("could not be fetched from file:///nowhere"));
  CHECK(read_file(part).size() == 5000);

  // More bytes than the file has: from the start.
  fs::remove_all(mirror.folder.file("data/cifar-100-binary"));
  write_file(mirror.path("cifar-100-binary.tar.gz"), archive);
  write_file(part, archive + "more");
  run_well(mirror.fetch({"cifar100", "data"}));
  CHECK(fs::exists(mirror.folder.file("data/cifar-100-binary/train.bin")));
}

TEST_CASE("fetch.sh refuses what has another checksum, and removes it", "[fetch]") {
  const Mirror mirror;
  mirror.pack_cifar100();
  fs::remove(mirror.path("MD5SUMS"));  // so the official one counts
  const Result result = run(mirror.fetch({"cifar100", "data"}));
  CHECK(result.code == 3);
  CHECK_THAT(result.err, Contains("expected md5 03b5dce01913d631647c71ecec9e9cb8, found "));
  CHECK(fs::is_empty(mirror.folder.file("data")));
}

TEST_CASE("fetch.sh refuses an archive without the folder it should have", "[fetch]") {
  const Mirror mirror;
  write_file(mirror.path("cifar-10-binary.tar.gz"), gzip("no archive"));
  mirror.write_sums();
  const Result result = run(mirror.fetch({"cifar10", "data"}));
  CHECK(result.code == 3);
  CHECK_THAT(result.err, Contains("cifar-10-batches-bin"));
  CHECK_FALSE(fs::exists(mirror.folder.file("data/cifar-10-batches-bin")));
}

TEST_CASE("fetch.sh brings the four files of MNIST", "[fetch]") {
  const Mirror mirror;
  for (const std::string split : {"train", "t10k"}) {
    std::string labels = big_endian(2049) + big_endian(30);
    for (int i = 0; i < 30; ++i) labels += static_cast<char>(i % 10);
    write_file(mirror.path(split + "-images-idx3-ubyte.gz"),
               gzip(big_endian(2051) + big_endian(30) + big_endian(2) + big_endian(2) + varied_bytes(120)));
    write_file(mirror.path(split + "-labels-idx1-ubyte.gz"), gzip(labels));
  }
  mirror.write_sums();
  run_well(mirror.fetch({"mnist", "data"}));
  CHECK_THAT(run_well(command(mirror.folder, "fcam-mosaic --data mnist:data/mnist --train 5 --test 5")).out,
             Contains("train: 30 items of 1x2x2"));
  CHECK_THAT(run_well(mirror.fetch({"mnist", "data"})).err, Contains("t10k-labels-idx1-ubyte.gz is already there"));
}

TEST_CASE("fetch.sh says what is wrong with what it is asked for", "[fetch]") {
  const Mirror mirror;
  CHECK_THAT(run_well(mirror.fetch({"--help"})).out, Contains("FCAM_MIRROR"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"cifar"}, {"cifar10", "a", "b"}, {"--mirror"}}) {
    CHECK(run(mirror.fetch(arguments)).code == 2);
  }
  CHECK(run(mirror.fetch({"cifar10", "data"})).code == 1);  // the mirror has no such file
  write_file(mirror.folder.file("file"), "x");
  CHECK(run(mirror.fetch({"cifar10", "file"})).code == 4);
}
