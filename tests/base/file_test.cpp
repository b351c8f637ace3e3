#include "fcam/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>

#include "support/errors.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::test;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t entries_of(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

void write_onto_full_disk(const std::string& path) {
  const FullDisk disk(1000);
  write_atomically(path, std::string(5000, 'x'));
}

}  // namespace

TEST_CASE("a written file reads back, and no temporary stays", "[base]") {
  const TemporaryFolder folder;
  std::string bytes(300000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
  write_atomically(folder.file("a"), bytes);
  CHECK(read_bytes(folder.file("a")) == bytes);
  CHECK(read_file(folder.file("a")) == bytes);
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("an empty file is a file", "[base]") {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "");
  CHECK(read_bytes(folder.file("a")).empty());
}

TEST_CASE("writing replaces a longer file entirely", "[base]") {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "a long former content");
  write_atomically(folder.file("a"), "new");
  CHECK(read_file(folder.file("a")) == "new");
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("who has the former file open keeps its bytes", "[base]") {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "former");
  std::ifstream reader(folder.file("a"));
  write_atomically(folder.file("a"), "new");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "former");
}

TEST_CASE("a stale temporary of a killed program does not hinder", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("a.tmp"), "a half-written, longer content");
  write_atomically(folder.file("a"), "whole");
  CHECK(read_file(folder.file("a")) == "whole");
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a full disk leaves the former file and no temporary", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "former");
  check_error<WriteError>([&] { write_onto_full_disk(folder.file("a")); }, {folder.file("a"), "File too large"});
  CHECK(read_file(folder.file("a")) == "former");
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a full device is a write error", "[base]") {
  check_error<WriteError>([&] { write_atomically("/dev/full", "x"); }, {"'/dev/full'", "No space left"});
}

TEST_CASE("a folder cannot be replaced by a file", "[base]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("d"));
  check_error<WriteError>([&] { write_atomically(folder.file("d"), "x"); }, {"folder"});
  CHECK(fs::is_directory(folder.file("d")));
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a missing folder, and a file in place of one, are write errors", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("f"), "");
  check_error<WriteError>([&] { write_atomically(folder.file("none/a"), "x"); }, {"none/a", "No such file"});
  check_error<WriteError>([&] { write_atomically(folder.file("f/a"), "x"); }, {"f/a", "Not a directory"});
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a link stays a link and the file it leads to is replaced", "[base]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("d"));
  write_file(folder.file("d/target"), "former");
  fs::create_symlink("d/target", folder.file("link"));
  write_atomically(folder.file("link"), "new");
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(read_file(folder.file("d/target")) == "new");
  CHECK(entries_of(folder) == 2);
}

TEST_CASE("a link that leads to nothing gets its file made, and stays", "[base]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("d"));
  fs::create_symlink("middle", folder.file("link"));
  fs::create_symlink("d/target", folder.file("middle"));
  write_atomically(folder.file("link"), "new");
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(fs::is_symlink(folder.file("middle")));
  CHECK(read_file(folder.file("d/target")) == "new");
  CHECK(entries_of(folder) == 3);
  fs::create_symlink("none/target", folder.file("lost"));
  check_error<WriteError>([&] { write_atomically(folder.file("lost"), "x"); }, {"lost", "No such file"});
}

TEST_CASE("links that lead round in a circle are a write error", "[base]") {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder.file("a"));
  fs::create_symlink("a", folder.file("b"));
  check_error<WriteError>([&] { write_atomically(folder.file("a"), "x"); }, {folder.file("a"), "symbolic links"});
  check_error<WriteError>([&] { require_writable(folder.file("b")); }, {folder.file("b"), "symbolic links"});
  CHECK(entries_of(folder) == 2);
}

TEST_CASE("a link to an open descriptor leads to it", "[base]") {
  const TemporaryFolder folder;
  const int out = open(folder.file("a").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(out >= 0);
  fs::create_symlink("/dev/fd/" + std::to_string(out), folder.file("link"));
  write_atomically(folder.file("link"), "one");
  write_atomically(folder.file("link"), "two");
  close(out);
  CHECK(read_file(folder.file("a")) == "onetwo");
}

TEST_CASE("a file that is never committed leaves the former one and no temporary", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "former");
  {
    AtomicFile file(folder.file("a"));
    file.write("half");
    CHECK(read_file(folder.file("a")) == "former");
  }
  CHECK(read_file(folder.file("a")) == "former");
  CHECK(entries_of(folder) == 1);
  AtomicFile file(folder.file("a"));
  file.write("who");
  file.write("le");
  file.commit();
  CHECK(read_file(folder.file("a")) == "whole");
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a former file can be removed before the new one takes its place, a link stays", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("former"), "former");
  std::filesystem::create_symlink("former", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.remove_former();
  CHECK_FALSE(std::filesystem::exists(folder.file("former")));
  file.remove_former();
  file.commit();
  CHECK(read_file(folder.file("former")) == "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  AtomicFile device("/dev/null");
  device.remove_former();
  CHECK(std::filesystem::exists("/dev/null"));
}

TEST_CASE("two writers of one file do not mix: the second is refused until the first is done", "[base]") {
  const TemporaryFolder folder;
  AtomicFile first(folder.file("a"));
  first.write("first");
  check_error<WriteError>([&] { AtomicFile(folder.file("a")); }, {folder.file("a"), "another program"});
  first.commit();
  write_atomically(folder.file("a"), "second");
  CHECK(read_file(folder.file("a")) == "second");
}

TEST_CASE("what could not be written is known beforehand, and nothing is changed by asking", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "former");
  require_writable(folder.file("a"));
  require_writable(folder.file("new"));
  require_writable("/dev/null");
  require_writable("/dev/stdout");
  CHECK(read_file(folder.file("a")) == "former");
  CHECK(entries_of(folder) == 1);
  check_error<WriteError>([&] { require_writable(folder.path().string()); }, {"a folder of that name"});
  check_error<WriteError>([&] { require_writable(folder.file("none/a")); }, {"none/a", "No such file"});
  const FullDisk disk(0);
  check_error<WriteError>([&] { require_writable(folder.file("a")); }, {folder.file("a"), "File too large"});
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("a file grows by whole pieces, or not at all where the disk is full", "[base]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  check_error<WriteError>([&] { AppendFile{path}; }, {path, "No such file"});
  write_file(path, "one\n");
  AppendFile file(path);
  file.append("two\n");
  CHECK(read_file(path) == "one\ntwo\n");
  {
    const FullDisk disk(10);
    check_error<WriteError>([&] { file.append("three\n"); }, {path, "File too large"});
    CHECK(read_file(path) == "one\ntwo\n");
  }
  file.append("three\n");
  CHECK(read_file(path) == "one\ntwo\nthree\n");
}

TEST_CASE("a pipe is written to, not replaced", "[base]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_atomically(path, "hello");
  char received[8] = {};
  CHECK(read(reader, received, sizeof received) == 5);
  close(reader);
  CHECK(std::string(received) == "hello");
  CHECK(fs::is_fifo(path));
}

TEST_CASE("an open descriptor is written to, even when a file is behind it", "[base]") {
  const TemporaryFolder folder;
  const int out = open(folder.file("a").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(out >= 0);
  REQUIRE(write(out, "first ", 6) == 6);
  write_atomically("/dev/fd/" + std::to_string(out), "second");
  struct stat by_descriptor {};
  REQUIRE(fstat(out, &by_descriptor) == 0);
  close(out);
  CHECK(read_file(folder.file("a")) == "first second");
  CHECK(by_descriptor.st_nlink == 1);  // not replaced by another file
  CHECK(entries_of(folder) == 1);
}

TEST_CASE("reading what is not a readable file is a data error", "[base]") {
  const TemporaryFolder folder;
  const auto check = [](const std::string& path, const std::string& reason) {
    check_error([&] { read_bytes(path); }, {quote(path), "expected a readable file", reason});
  };
  check(folder.file("none"), "No such file");
  check(folder.path().string(), "a folder");
  check("/dev/zero", "a device");
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  check(folder.file("pipe"), "pipe");
}

TEST_CASE("files whose size is not known beforehand are read to their end", "[base]") {
  CHECK_THAT(read_bytes("/proc/self/status"), Catch::Contains("Pid:"));
}

TEST_CASE("control characters of a path do not break the line of a message", "[base]") {
  const TemporaryFolder folder;
  check_error([&] { read_bytes(folder.file("a\nb")); }, {"a\\x0ab"});
  check_error<WriteError>([&] { write_atomically(folder.file("a\nb/c"), "x"); }, {"a\\x0ab/c"});
}

TEST_CASE("a file written part by part gets its name at the end", "[base]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_file(path, "former");
  const std::string large(200'000, 'x');
  {
    AtomicFile writer(path);
    for (const std::string& part : {std::string("one"), large, std::string("two")}) writer.write(part);
    CHECK(read_file(path) == "former");
    writer.commit();
  }
  CHECK(read_file(path) == "one" + large + "two");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that is not finished leaves the former one and no temporary", "[base]") {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "former");
  {
    AtomicFile writer(folder.file("a"));
    writer.write(std::string(200'000, 'x'));
  }
  CHECK(read_file(folder.file("a")) == "former");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK_THROWS_AS(AtomicFile(folder.path().string()), WriteError);
}

TEST_CASE("a file is removed where there is one, and what cannot be removed is told", "[base]") {
  const TemporaryFolder folder;
  write_atomically(folder.file("a"), "text");
  remove_file(folder.file("a"));
  CHECK_FALSE(fs::exists(folder.file("a")));
  remove_file(folder.file("a"));
  fs::create_directory(folder.file("full"));
  write_atomically(folder.file("full/b"), "text");
  check_error<WriteError>([&] { remove_file(folder.file("full")); }, {"expected to remove it"});
  CHECK(fs::exists(folder.file("full/b")));
}
