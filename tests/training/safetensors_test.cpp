#include "fcam/training/safetensors.h"

#include <bit>
#include <cmath>
#include <limits>

#include "support/errors.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::test;

namespace {

template <class Bits>
std::string little_endian(Bits bits) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
  return bytes;
}

std::string f32(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) bytes += little_endian(std::bit_cast<std::uint32_t>(value));
  return bytes;
}

std::string f64(std::initializer_list<double> values) {
  std::string bytes;
  for (const double value : values) bytes += little_endian(std::bit_cast<std::uint64_t>(value));
  return bytes;
}

/// A file with that header, as it is, and data.
std::string file_of(const std::string& header, const std::string& data = "") {
  return little_endian(std::uint64_t{header.size()}) + header + data;
}

/// An entry of a header.
std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

SafeTensors read_content(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder.file("a.safetensors"), bytes);
  return read_safetensors(folder.file("a.safetensors"));
}

void check_refused(const std::string& bytes, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  write_file(path, bytes);
  CAPTURE(bytes);
  check_error([&] { read_safetensors(path); }, {"'" + path + "': expected ", ", found "});
  check_error([&] { read_safetensors(path); }, parts);
}

std::string written(const SafeTensors& content) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("a.safetensors"), content);
  return read_file(folder.file("a.safetensors"));
}

const SafeTensors example = {{{"epoch", "3"}, {"loss", "sa"}},
                             {{"w", {2, 3}, {1, -2, 0.5f, 1e-30f, 3e38f, -0.f}}, {"b", {1}, {7}}, {"a", {}, {0.25f}}}};

}  // namespace

TEST_CASE("a file as PyTorch's safetensors writes it is read", "[training]") {
  // save_file({"fc1.weight": ones-like (2,2), "fc1.bias": (2)}, ..., metadata={"format": "pt"}), byte by byte
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"fc1.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("fc1.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string data(
      "\x00\x00\x80\x3f\x00\x00\x00\xc0"                                   // 1, -2
      "\x00\x00\x00\x3f\x00\x00\x80\x3e\x00\x00\x40\x40\xcd\xcc\xcc\x3d",  // 0.5, 0.25, 3, 0.1
      24);
  const SafeTensors content = read_content(file_of(padded, data));
  CHECK(content.metadata == std::map<std::string, std::string>{{"format", "pt"}});
  REQUIRE(content.tensors.size() == 2);
  CHECK(content.tensors[0].name == "fc1.bias");
  CHECK(content.tensors[0].shape == Shape{2});
  CHECK(content.tensors[0].values == std::vector<float>{1, -2});
  CHECK(content.tensors[1].name == "fc1.weight");
  CHECK(content.tensors[1].shape == Shape{2, 2});
  CHECK(content.tensors[1].values == std::vector<float>{0.5f, 0.25f, 3, 0.1f});
}

TEST_CASE("the bytes of a written file are known", "[training]") {
  const std::string header = R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  CHECK(written({{{"k", "v"}}, {{"b", {1}, {7}}, {"a", {}, {0.25f}}}}) == file_of(header + padding, f32({7, 0.25f})));
}

TEST_CASE("written content reads back the same, to the bit", "[training]") {
  const SafeTensors content = read_content(written(example));
  CHECK(content.metadata == example.metadata);
  REQUIRE(content.tensors.size() == example.tensors.size());
  for (std::size_t i = 0; i < content.tensors.size(); ++i) {
    CHECK(content.tensors[i].name == example.tensors[i].name);
    CHECK(content.tensors[i].shape == example.tensors[i].shape);
    CHECK(content.tensors[i].values == example.tensors[i].values);
  }
  CHECK(std::signbit(content.tensors[0].values[5]));
  CHECK(written(content) == written(example));
}

TEST_CASE("find gives the tensor of a name or null", "[training]") {
  REQUIRE(example.find("b") != nullptr);
  CHECK(example.find("b")->values == std::vector<float>{7});
  CHECK(example.find("c") == nullptr);
  CHECK(SafeTensors{}.find("") == nullptr);
}

TEST_CASE("the header is padded so that data begin at a multiple of 8", "[training]") {
  for (std::size_t length = 1; length <= 16; ++length) {
    const std::string bytes = written({{}, {{std::string(length, 'n'), {1}, {1}}}});
    const auto header_size = static_cast<unsigned char>(bytes[0]);
    CAPTURE(length);
    CHECK((8 + header_size) % 8 == 0);
    CHECK(bytes.size() == 8u + header_size + 4);
    CHECK(bytes[8] == '{');
  }
}

TEST_CASE("nothing at all is a file", "[training]") {
  CHECK(written({}) == file_of("{}      "));
  const SafeTensors content = read_content(written({}));
  CHECK(content.metadata.empty());
  CHECK(content.tensors.empty());
}

TEST_CASE("a file of metadata alone is read", "[training]") {
  const SafeTensors content = read_content(written({{{"a", "1"}, {"b", ""}}, {}}));
  CHECK(content.metadata == std::map<std::string, std::string>{{"a", "1"}, {"b", ""}});
  CHECK(content.tensors.empty());
}

TEST_CASE("tensors without elements are kept in their places", "[training]") {
  const SafeTensors content = {{}, {{"e", {0}, {}}, {"w", {2}, {1, 2}}, {"f", {3, 0, 5}, {}}, {"z", {1}, {3}}}};
  const SafeTensors back = read_content(written(content));
  REQUIRE(back.tensors.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(back.tensors[i].name == content.tensors[i].name);
    CHECK(back.tensors[i].shape == content.tensors[i].shape);
    CHECK(back.tensors[i].values == content.tensors[i].values);
  }
}

TEST_CASE("padding, space between tokens and odd alignment are accepted", "[training]") {
  CHECK(read_content(file_of("{}" + std::string(1000, ' '))).tensors.empty());
  CHECK(read_content(file_of(" {\n}\t")).tensors.empty());
  const std::string header = "{" + entry("odd", "F32", "[ 1 ]", "[0 ,4]") + "}";
  for (std::size_t spaces = 0; spaces < 8; ++spaces) {
    CHECK(read_content(file_of(header + std::string(spaces, ' '), f32({5}))).tensors[0].values[0] == 5);
  }
}

TEST_CASE("tensors come in the order of their data, not of their names", "[training]") {
  const std::string header = "{" + entry("a", "F32", "[1]", "[8,12]") + "," + entry("b", "F32", "[2]", "[0,8]") + "}";
  const SafeTensors content = read_content(file_of(header, f32({1, 2, 3})));
  REQUIRE(content.tensors.size() == 2);
  CHECK(content.tensors[0].name == "b");
  CHECK(content.tensors[0].values == std::vector<float>{1, 2});
  CHECK(content.tensors[1].values == std::vector<float>{3});
}

TEST_CASE("F64 becomes float, also between F32", "[training]") {
  const std::string header = "{" + entry("x", "F32", "[1]", "[0,4]") + "," + entry("y", "F64", "[2]", "[4,20]") + "," +
                             entry("z", "F32", "[1]", "[20,24]") + "}";
  const SafeTensors content = read_content(file_of(header, f32({1}) + f64({0.1, -1e-300}) + f32({2})));
  REQUIRE(content.tensors.size() == 3);
  CHECK(content.tensors[1].values == std::vector<float>{0.1f, 0});
  CHECK(content.tensors[2].values == std::vector<float>{2});
}

TEST_CASE("other types are refused by name", "[training]") {
  for (const std::string type : {"F16", "BF16", "I64", "U8", "BOOL", "F8_E4M3", "f32", "float32", ""}) {
    check_refused(file_of("{" + entry("w", type, "[1]", "[0,4]") + "}", f32({1})), {"'w'", "'" + type + "'", "F32"});
  }
  check_refused(file_of(R"({"w":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", f32({1})), {"'w'", "number"});
}

TEST_CASE("a file cut anywhere is refused as incomplete", "[training]") {
  const std::string whole = written(example);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    check_refused(whole.substr(0, size), {"incomplete copy or interrupted save"});
  }
}

TEST_CASE("the sizes of a cut file are named", "[training]") {
  const std::string whole = file_of("{" + entry("w", "F32", "[3]", "[0,12]") + "}", f32({1, 2, 3}));
  check_refused(whole.substr(0, 4), {"expected a safetensors file of at least 8 bytes, found 4"});
  check_refused(whole.substr(0, 20), {"header of 55 bytes", "found 12 bytes"});
  check_refused(whole.substr(0, whole.size() - 5), {"12 bytes of data", "found 7"});
}

TEST_CASE("8 bytes of zero are no safetensors file", "[training]") {
  check_refused(std::string(8, '\0'), {"header", "found 0 bytes"});
  check_refused(std::string(4096, '\0'), {"header"});
}

TEST_CASE("a gigantic header length is refused before anything is allocated", "[training]") {
  for (const std::uint64_t length : {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63,
                                     std::numeric_limits<std::uint64_t>::max() - 7, std::uint64_t{3}}) {
    check_refused(little_endian(length) + "{}", {"header of " + std::to_string(length) + " bytes", "found 2 bytes"});
  }
}

TEST_CASE("bytes after the last tensor are refused", "[training]") {
  check_refused(written(example) + "x", {"32 bytes of data", "found 33", "after the last tensor"});
}

TEST_CASE("a header that is not one JSON text is refused", "[training]") {
  for (const std::string header : {"{", "}", "{}}", "{},", "{} x", "{\"a\"}", "{'a':1}", "nul", "{\"a\":1e999}",
                                   "        ", "\x80\x04\x95 pickle", "{\"\xff\":{}}", "// {}\n{}"}) {
    check_refused(file_of(header), {"a header in JSON"});
  }
  check_refused(file_of(std::string("{}\0\0", 4)), {"a header in JSON"});
  check_refused(file_of(std::string("{}\0garbage", 10)), {"a header in JSON"});
}

TEST_CASE("a header that is no object is refused", "[training]") {
  for (const std::string header : {"[]", "3", "\"text\"", "null", "true"}) {
    check_refused(file_of(header), {"a JSON object as header"});
  }
}

TEST_CASE("a deeply nested header is refused, not a stack overflow", "[training]") {
  check_refused(file_of(std::string(200000, '[')), {"a header in JSON"});
  check_refused(file_of(std::string(200000, '[') + std::string(200000, ']')), {"a JSON object"});
}

TEST_CASE("repeated keys are refused on every level", "[training]") {
  const std::string w = entry("w", "F32", "[1]", "[0,4]");
  check_refused(file_of("{" + w + "," + w + "}", f32({1})), {"each key of the header once", "'w' again"});
  check_refused(file_of(R"({"w":{"dtype":"F16","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", f32({1})),
                {"'dtype' again"});
  check_refused(file_of(R"({"__metadata__":{"a":"1","b":"2","a":"3"}})"), {"'a' again"});
  check_refused(file_of(R"({"__metadata__":{},"__metadata__":{}})"), {"'__metadata__' again"});
  check_refused(file_of(R"({"a\u0062":{},"ab":{}})"), {"'ab' again"});
}

TEST_CASE("the same key in two objects is no repetition", "[training]") {
  const std::string header = R"({"__metadata__":{"w":"1","dtype":"x"},)" + entry("w", "F32", "[1]", "[0,4]") + "," +
                             entry("v", "F32", "[1]", "[4,8]") + "}";
  CHECK(read_content(file_of(header, f32({1, 2}))).tensors.size() == 2);
}

TEST_CASE("metadata that are not strings are refused", "[training]") {
  for (const std::string value : {"1", "null", "true", "[]", "{}"}) {
    check_refused(file_of("{\"__metadata__\":{\"epoch\":" + value + "}}"), {"a string as metadata 'epoch'"});
    if (value != "{}") check_refused(file_of("{\"__metadata__\":" + value + "}"), {"object as __metadata__"});
  }
}

TEST_CASE("a tensor needs dtype, shape and data_offsets", "[training]") {
  check_refused(file_of(R"({"w":{"shape":[0],"data_offsets":[0,0]}})"), {"'w'", "dtype"});
  check_refused(file_of(R"({"w":{"dtype":"F32","data_offsets":[0,0]}})"), {"'w'", "shape"});
  check_refused(file_of(R"({"w":{"dtype":"F32","shape":[0]}})"), {"'w'", "data_offsets"});
  for (const std::string value : {"1", "null", "[]", "\"F32\""}) {
    check_refused(file_of("{\"w\":" + value + "}"), {"a JSON object as tensor 'w'"});
  }
}

TEST_CASE("shapes and offsets that are not arrays of non-negative integers are refused", "[training]") {
  for (const std::string bad : {"1", "null", "{}", "\"1\"", "[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[null]", "[[1]]",
                                "[true]", "[99999999999999999999]"}) {
    check_refused(file_of("{" + entry("w", "F32", bad, "[0,4]") + "}", f32({1})), {"the shape of tensor 'w'"});
    check_refused(file_of("{" + entry("w", "F32", "[1]", bad) + "}", f32({1})), {"data_offsets of tensor 'w'"});
  }
  for (const std::string bad : {"[]", "[0]", "[0,4,8]"}) {
    check_refused(file_of("{" + entry("w", "F32", "[1]", bad) + "}", f32({1})), {"2 data_offsets of tensor 'w'"});
  }
}

TEST_CASE("offsets that do not match the shape are refused", "[training]") {
  for (const std::string offsets : {"[0,8]", "[0,0]", "[0,3]", "[4,0]", "[4,4]"}) {
    check_refused(file_of("{" + entry("w", "F32", "[1]", offsets) + "}", f32({1})), {"'w'", "4 bytes apart"});
  }
  check_refused(file_of("{" + entry("w", "F64", "[2]", "[0,8]") + "}", f64({1})), {"16 bytes apart (2 of F64)"});
}

TEST_CASE("sizes that overflow are refused before anything is allocated", "[training]") {
  const std::string largest = "18446744073709551615", half = "9223372036854775808", quarter = "4611686018427387904";
  check_refused(file_of("{" + entry("w", "F32", "[" + quarter + "]", "[0,0]") + "}"), {"'w'", "bytes apart"});
  check_refused(file_of("{" + entry("w", "F32", "[" + half + ",2]", "[0,0]") + "}"), {"'w'", "bytes apart"});
  check_refused(file_of("{" + entry("w", "F32", "[" + largest + "," + largest + "]", "[0," + largest + "]") + "}"),
                {largest + " bytes of data", "found 0"});
  check_refused(file_of("{" + entry("w", "F32", "[1]", "[" + largest + ",3]") + "}", f32({1})), {"bytes apart"});
  check_refused(file_of("{" + entry("w", "F32", "[250000000000]", "[0,1000000000000]") + "}"),
                {"1000000000000 bytes of data", "found 0"});
}

TEST_CASE("overlapping tensors are refused", "[training]") {
  check_refused(
      file_of("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]") + "}", f32({1, 2, 3})),
      {"'b' at byte 8", "without overlap", "byte 4"});
  check_refused(
      file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[0,4]") + "}", f32({1})),
      {"without overlap"});
}

TEST_CASE("gaps between and before tensors are refused", "[training]") {
  check_refused(
      file_of("{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[8,12]") + "}", f32({1, 2, 3})),
      {"'b' at byte 4", "without gap", "byte 8"});
  check_refused(file_of("{" + entry("a", "F32", "[1]", "[4,8]") + "}", f32({1, 2})), {"'a' at byte 0", "without gap"});
}

TEST_CASE("values that are not finite are refused with tensor and index", "[training]") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::string header = "{" + entry("v", "F32", "[1]", "[0,4]") + "," + entry("w", "F32", "[2,2]", "[4,20]") + "}";
  check_refused(file_of(header, f32({0, 1, 2, nan, 4})), {"tensor 'w'", "nan at flat index 2"});
  check_refused(file_of(header, f32({0, 1, 2, 3, -infinity})), {"tensor 'w'", "-inf at flat index 3"});
  check_refused(file_of(header, f32({infinity, 1, 2, 3, 4})), {"tensor 'v'", "inf at flat index 0"});
  check_refused(file_of("{" + entry("d", "F64", "[2]", "[0,16]") + "}", f64({1, 1e300})),
                {"float32", "'d'", "1e+300 at flat index 1"});
}

TEST_CASE("control characters of names do not break the line of a message", "[training]") {
  check_refused(file_of("{" + entry("a\\nb", "F16", "[1]", "[0,2]") + "}", "xx"), {"'a\\x0ab'"});
}

TEST_CASE("names that need escapes come back the same", "[training]") {
  const SafeTensors content = {{{"k\n\"\\", "\t\x01 caf\xc3\xa9"}}, {{"a\"b\\c/\xe2\x82\xac", {1}, {1}}}};
  const SafeTensors back = read_content(written(content));
  CHECK(back.metadata == content.metadata);
  CHECK(back.tensors[0].name == content.tensors[0].name);
}

TEST_CASE("bytes that are not UTF-8 are replaced when written", "[training]") {
  const SafeTensors back = read_content(written({{{"path", "caf\xe9"}}, {{"w\xff", {1}, {1}}}}));
  CHECK(back.metadata.at("path") == "caf\xef\xbf\xbd");
  CHECK(back.tensors[0].name == "w\xef\xbf\xbd");
}

TEST_CASE("a failed save leaves the former file", "[training]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.safetensors");
  write_safetensors(path, example);
  check_error<WriteError>(
      [&] {
        const FullDisk disk(1000);
        write_safetensors(path, {{}, {{"w", {1000}, std::vector<float>(1000)}}});
      },
      {path});
  CHECK(read_safetensors(path).tensors.size() == 3);
}

TEST_CASE("a file that is not there is named", "[training]") {
  const TemporaryFolder folder;
  check_error([&] { read_safetensors(folder.file("none")); }, {folder.file("none"), "expected a file"});
  check_error([&] { read_safetensors(folder.path().string()); }, {"a folder"});
}
