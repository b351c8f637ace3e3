#include "fcam/data/input.h"

#include <unistd.h>

#include <limits>

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

TEST_CASE("a missing file, a folder and a device are refused by name", "[data]") {
  const TemporaryFolder folder;
  check_error([&] { InputFile file(folder.file("none")); }, {folder.file("none"), "expected a file", "found nothing"});
  check_error([&] { InputFile file(folder.path().string()); },
              {folder.path().string(), "expected a file", "found a folder"});
  check_error([&] { InputFile file("/dev/null"); }, {"/dev/null", "expected a regular file", "found"});
}

TEST_CASE("an unreadable file is refused with the system's reason", "[data]") {
  if (geteuid() == 0) return;  // root may read everything
  const TemporaryFolder folder;
  write_file(folder.file("locked"), "x");
  std::filesystem::permissions(folder.file("locked"), std::filesystem::perms::none);
  check_error([&] { InputFile file(folder.file("locked")); },
              {"locked", "expected a readable file", "found Permission denied"});
}

TEST_CASE("a file is read in parts and not beyond its end", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("six"), "abcdef");
  InputFile file(folder.file("six"));
  char part[4] = {};
  CHECK(file.size() == 6);
  file.read(part, 4);
  CHECK(std::string(part, 4) == "abcd");
  check_error([&] { file.read(part, 4); }, {"six", "expected 4 more bytes", "found 2"});
}

TEST_CASE("line breaks in a file's name do not break the message", "[data]") {
  check_error([] { InputFile file("no\nsuch"); }, {"'no\\x0asuch'"});
}

TEST_CASE("the first of several names that exists is found", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("b"), "");
  write_file(folder.file("c"), "");
  CHECK(find_file(folder.path().string(), {"a", "b", "c"}) == folder.file("b"));
  CHECK(has_file(folder.path().string(), "c"));
  CHECK_FALSE(has_file(folder.path().string(), "a"));
}

TEST_CASE("where no name exists all are listed", "[data]") {
  const TemporaryFolder folder;
  check_error(
      [&] {
        find_file(folder.path().string(), {"a.bin", "a.bin.gz"});
      },
      {folder.path().string(), "expected one of a.bin, a.bin.gz", "found no such file"});
  check_error([&] { find_file(folder.file("none"), {"a"}); },
              {folder.file("none"), "expected a folder", "found nothing"});
  write_file(folder.file("plain"), "");
  check_error([&] { find_file(folder.file("plain"), {"a"}); },
              {folder.file("plain"), "expected a folder", "found a file"});
}

TEST_CASE("counts of elements saturate instead of overflowing", "[data]") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(saturating_count({}) == 1);
  CHECK(saturating_count({2, 3, 4}) == 24);
  CHECK(saturating_count({most, 1}) == most);
  CHECK(saturating_count({most / 2 + 1, 2}) == most);
  CHECK(saturating_count({most, most, 0}) == 0);
}

TEST_CASE("what is quoted of a file is cut where it is long", "[data]") {
  CHECK(quote_start("short") == "'short'");
  CHECK(quote_start(std::string(80, 'x')) == quote(std::string(80, 'x')));
  CHECK(quote_start(std::string(81, 'x')) == quote(std::string(80, 'x')) + "... of 81 bytes");
}

TEST_CASE("files are found under the first of their names, those that are there", "[data]") {
  const TemporaryFolder folder;
  for (const std::string name : {"a.gz", "b", "b.gz"}) write_file(folder.file(name), name);
  CHECK(files_there(folder.path().string(), {{"a", "a.gz"}, {"none"}, {"b", "b.gz"}}) ==
        std::vector<std::string>{folder.file("a.gz"), folder.file("b")});
  CHECK(files_there(folder.file("none"), {{"a"}}).empty());
}
