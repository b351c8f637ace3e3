#include "fcam/data/gzip.h"

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

std::string unpacked(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder.file("f"), content);
  const auto bytes = read_unpacked(folder.file("f"));
  return std::string(bytes.begin(), bytes.end());
}

void check_refused(const std::string& content, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  write_file(folder.file("some.gz"), content);
  CAPTURE(content.size());
  check_error([&] { read_unpacked(folder.file("some.gz")); }, {folder.file("some.gz"), "expected", "found"});
  check_error([&] { read_unpacked(folder.file("some.gz")); }, parts);
}

}  // namespace

TEST_CASE("plain bytes come as they are", "[data]") {
  CHECK(unpacked("") == "");
  CHECK(unpacked("\x1f") == "\x1f");
  const std::string all = varied_bytes(1000);
  CHECK(unpacked(all) == all);
}

TEST_CASE("gzip is known by its content, not its name", "[data]") {
  const std::string text = "some text";
  CHECK(unpacked(gzip(text)) == text);
  CHECK(unpacked(gzip("")) == "");
}

TEST_CASE("unpacked data may be much larger than the buffers and the file", "[data]") {
  const std::string zeros(5'000'000, '\0'), varied = varied_bytes(1'000'000);
  CHECK(unpacked(gzip(zeros)) == zeros);
  CHECK(unpacked(gzip(varied)) == varied);
}

TEST_CASE("several gzip members are joined", "[data]") {
  const std::string more = varied_bytes(100'000);
  CHECK(unpacked(gzip("one ") + gzip("") + gzip(more)) == "one " + more);
}

TEST_CASE("gzip data cut anywhere are refused", "[data]") {
  const std::string packed = gzip(varied_bytes(80));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    check_refused(packed.substr(0, size), {"after " + std::to_string(size) + " packed bytes"});
  }
}

TEST_CASE("a second gzip member that is cut is refused", "[data]") {
  check_refused(gzip("one") + gzip("two").substr(0, 12), {"after 35 packed bytes"});
}

TEST_CASE("the message about cut data says how many bytes were wanted where that is known", "[data]") {
  const TemporaryFolder folder;
  const std::string packed = gzip(varied_bytes(5000));
  write_file(folder.file("cut"), packed.substr(0, packed.size() - 8));
  check_error(
      [&] { read_unpacked(folder.file("cut"), [](std::span<const std::uint8_t>) { return std::size_t{5000}; }); },
      {"'" + folder.file("cut") + "'", "expected 5000 bytes", "found 5000 bytes, then the end of the file"});
}

TEST_CASE("a wrong checksum or length in the trailer is refused", "[data]") {
  const std::string good = gzip("some text");
  for (const std::size_t from_end : {8, 5, 4, 1}) {
    std::string bad = good;
    bad[bad.size() - from_end] ^= 1;
    check_refused(bad, {"expected intact gzip data of " + std::to_string(bad.size()) + " bytes", "check"});
  }
}

TEST_CASE("damaged gzip data are refused", "[data]") {
  std::string bad = gzip(varied_bytes(2000));
  bad[10] = static_cast<char>(0xff);  // a block of a kind that does not exist
  check_refused(bad, {"intact gzip data"});
  check_refused("\x1f\x8b\x09\x01 and so on", {"unknown compression method"});
}

TEST_CASE("something else after gzip data is refused", "[data]") {
  const std::string good = gzip("some text");
  check_refused(good + "tail", {"expected nothing after the gzip data (" + std::to_string(good.size()) + " bytes)",
                                "found 4 bytes more"});
  check_refused(good + '\x1f', {"found 1 bytes more"});
  check_refused(good + std::string(9, '\0') + 'x', {"found 10 bytes more"});
}

TEST_CASE("zeros after gzip data are padding", "[data]") {
  CHECK(unpacked(gzip("some text") + '\0') == "some text");
  CHECK(unpacked(gzip("one ") + gzip("two") + std::string(100'000, '\0')) == "one two");
}
