#include "fcam/data/npy.h"

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// A file of version 1.0 with that header text, unpadded, and data.
std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size() & 0xff) +
         static_cast<char>(header.size() >> 8) + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran_order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }\n";
}

std::string hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

NpyArray read_content(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder.file("a.npy"), content);
  CHECK(read_npy_shape(folder.file("a.npy")) == read_npy(folder.file("a.npy")).shape);
  return read_npy(folder.file("a.npy"));
}

template <class T>
std::vector<T> values_of(const std::string& content) {
  return std::get<std::vector<T>>(read_content(content).values);
}

void check_refused(const std::string& content, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  write_file(folder.file("bad.npy"), content);
  CAPTURE(content);
  check_error([&] { read_npy(folder.file("bad.npy")); }, {folder.file("bad.npy"), "expected", "found"});
  check_error([&] { read_npy(folder.file("bad.npy")); }, parts);
}

template <class T>
void check_round_trip(const Shape& shape, const std::vector<T>& values) {
  const TemporaryFolder folder;
  write_npy(folder.file("a.npy"), shape, values);
  const NpyArray array = read_npy(folder.file("a.npy"));
  CHECK(array.shape == shape);
  CHECK(std::get<std::vector<T>>(array.values) == values);
}

}  // namespace

TEST_CASE("npy numbers of every type and byte order are read", "[data]") {
  CHECK(values_of<std::uint8_t>(npy(header("|u1", "(2,)"), hex("00ff"))) == std::vector<std::uint8_t>{0, 255});
  CHECK(values_of<float>(npy(header("<f4", "(2,)"), hex("0000003f000020c1"))) == std::vector<float>{0.5f, -10});
  CHECK(values_of<float>(npy(header(">f4", "(2,)"), hex("3f000000c1200000"))) == std::vector<float>{0.5f, -10});
  CHECK(values_of<double>(npy(header("<f8", "(1,)"), hex("000000000000f83f"))) == std::vector<double>{1.5});
  CHECK(values_of<double>(npy(header(">f8", "(1,)"), hex("3ff8000000000000"))) == std::vector<double>{1.5});
  CHECK(values_of<std::int32_t>(npy(header("<i4", "(2,)"), hex("feffffff00010000"))) ==
        std::vector<std::int32_t>{-2, 256});
  CHECK(values_of<std::int32_t>(npy(header(">i4", "(2,)"), hex("fffffffe00000100"))) ==
        std::vector<std::int32_t>{-2, 256});
  CHECK(values_of<std::int64_t>(npy(header("<i8", "(1,)"), hex("0000000001000000"))) ==
        std::vector<std::int64_t>{1LL << 32});
  CHECK(values_of<std::int64_t>(npy(header(">i8", "(1,)"), hex("fffffffffffffffd"))) == std::vector<std::int64_t>{-3});
}

TEST_CASE("npy arrays in Fortran order are turned into C order", "[data]") {
  // [[1, 2, 3], [4, 5, 6]]
  CHECK(values_of<std::uint8_t>(npy(header("|u1", "(2, 3)", "True"), hex("010402050306"))) ==
        std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
  CHECK(values_of<std::uint8_t>(npy(header("|u1", "(2, 3)"), hex("010402050306"))) ==
        std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6});
  // Element (i,j,k) of 2x3x2 is 6 i + 2 j + k.
  CHECK(values_of<std::uint8_t>(npy(header("|u1", "(2, 3, 2)", "True"), hex("00060208040a01070309050b"))) ==
        std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("npy shapes of any rank are read", "[data]") {
  CHECK(read_content(npy(header("|u1", "()"), "x")).shape == Shape{});
  CHECK(read_content(npy(header("|u1", "(3,)"), "xyz")).shape == Shape{3});
  CHECK(read_content(npy(header("|u1", "(1, 2, 3, 1, 1)"), "uvwxyz")).shape == Shape{1, 2, 3, 1, 1});
  CHECK(read_content(npy(header("<f8", "(0, 3, 32, 32)"), "")).shape == Shape{0, 3, 32, 32});
}

TEST_CASE("npy headers may be spelt in all the ways that Python allows", "[data]") {
  const std::string data = "abcdef";
  CHECK(read_content(npy("{\"shape\":(2,3),\"descr\":\"|u1\",\"fortran_order\":False}", data)).shape == Shape{2, 3});
  CHECK(read_content(npy(" { 'fortran_order' : False , 'shape' : ( 2L , 3L , ) , 'descr' : '|u1' , }   \n", data))
            .shape == Shape{2, 3});
}

TEST_CASE("npy versions 2.0 and 3.0 have a longer length", "[data]") {
  const std::string text = header("|u1", "(2,)");
  const std::string rest = std::string{static_cast<char>(text.size()), '\0', '\0', '\0'} + text + "xy";
  CHECK(read_content(std::string("\x93NUMPY\2\0", 8) + rest).shape == Shape{2});
  CHECK(read_content(std::string("\x93NUMPY\3\0", 8) + rest).shape == Shape{2});
  check_refused(std::string("\x93NUMPY\4\0", 8) + rest, {"expected npy version 1.0, 2.0 or 3.0", "found 4.0"});
  check_refused(std::string("\x93NUMPY\1\1", 8) + rest, {"found 1.1"});
}

TEST_CASE("npy data that are too short or too long are refused", "[data]") {
  const std::string text = header("<f4", "(10, 20)"), data(800, 'x');
  CHECK(read_content(npy(text, data)).shape == Shape{10, 20});
  for (const std::size_t missing : {1, 7, 100, 800}) {
    check_refused(npy(text, data.substr(missing)),
                  {"expected 800 bytes of data (10x20 of f4)", "found " + std::to_string(800 - missing)});
  }
  check_refused(npy(text, data + "x"), {"expected 800 bytes of data", "found 801"});
}

TEST_CASE("an npy file cut in its header is refused", "[data]") {
  const std::string whole = npy(header("|u1", "(2,)"), "xy");
  for (std::size_t size = 0; size < whole.size(); ++size) check_refused(whole.substr(0, size), {"bad.npy"});
  check_refused(whole.substr(0, 30), {"expected an npy header of 58 bytes", "found 20"});
}

TEST_CASE("npy sizes that overflow are refused without allocating them", "[data]") {
  check_refused(npy(header("<f8", "(4294967296, 4294967296)"), "x"),
                {"expected 18446744073709551615 bytes", "found 1"});
  check_refused(npy(header("<f8", "(2305843009213693952,)"), ""), {"found 0"});
  check_refused(npy(header("|u1", "(99999999999999999999,)"), "x"), {"expected a size of 64 bits at most"});
  check_refused(npy(header("<f8", "(1000000000000,)"), "12345678"), {"expected 8000000000000 bytes", "found 8"});
}

TEST_CASE("files of other kinds are recognised", "[data]") {
  check_refused("", {"expected an npy file", "found an empty file"});
  check_refused("PK\3\4 and so on", {"zip archive (.npz?)", "numpy.save"});
  check_refused(gzip("something"), {"found gzip data"});
  check_refused("1.0,2.0,3.0\n", {"expected an npy file", "starts with '1.0,2.0,'"});
  check_refused("\x93NUMPX\1", {"expected an npy file"});
}

TEST_CASE("npy types that are not supported are named", "[data]") {
  for (const std::string type :
       {"<f2", "<u4", "|b1", "<c16", "<U5", "<i2", "|i1", "|f4", "=f4", "<f16", "f4", "u1", "<M8[ns]", ""}) {
    check_refused(npy(header(type, "(1,)"), "12345678"),
                  {"expected numbers of type u1, f4, f8, i4 or i8", "found '" + type + "'"});
  }
  check_refused(npy(header("|O", "(1,)"), "12345678"), {"found '|O' (pickled Python objects)"});
  check_refused(npy("{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,), }", "12345678"),
                {"found a structured type"});
}

TEST_CASE("npy headers with other keys, or without one of theirs, are refused", "[data]") {
  check_refused(npy("{'descr': '|u1', 'fortran_order': False, }", "x"), {"expected an npy header with the keys"});
  check_refused(npy("{}", "x"), {"found '{}'"});
  check_refused(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}", "x"), {"found key 'more'"});
  check_refused(npy("{'descr': '|u1', 'shape': (1,), 'fortran_order': False, 'shape': (1,)}", "x"),
                {"each once", "found key 'shape'"});
}

TEST_CASE("npy headers that are no proper dict are refused", "[data]") {
  const std::string begin = "{'descr': '|u1', 'fortran_order': False, 'shape': ";
  check_refused(npy("", "x"), {"expected '{'"});
  check_refused(npy(begin + "(1,)", "x"), {"expected ',' or '}'"});
  check_refused(npy(begin + "(1,)} x", "x"), {"expected nothing after the closing '}'"});
  check_refused(npy(begin + "(1)}", "x"), {"expected a tuple"});
  check_refused(npy(begin + "(-1,)}", "x"), {"expected a size"});
  check_refused(npy(begin + "(1 1)}", "x"), {"expected ',' or ')'"});
  check_refused(npy(begin + "(,)}", "x"), {"expected a size"});
  check_refused(npy(begin + "[1]}", "x"), {"expected '('"});
  check_refused(npy("{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "x"), {"expected True or False"});
  check_refused(npy("{'descr: 1}", "x"), {"expected a closing quote"});
  check_refused(npy("{descr: 1}", "x"), {"expected a key in quotes"});
  check_refused(npy("{'descr' '|u1'}", "x"), {"expected ':'"});
}

TEST_CASE("what write_npy writes is read back", "[data]") {
  check_round_trip<std::uint8_t>({2, 2}, {0, 1, 254, 255});
  check_round_trip<float>({3}, {0.1f, -1e-30f, 3e38f});
  check_round_trip<double>({1, 2}, {0.1, -1e300});
  check_round_trip<std::int64_t>({2}, {-1, 1LL << 40});
  check_round_trip<double>({}, {4});
  check_round_trip<float>({0, 7}, {});
}

TEST_CASE("write_npy writes the bytes of numpy's version 1.0, padded to 64", "[data]") {
  const TemporaryFolder folder;
  write_npy<float>(folder.file("a.npy"), {1, 2}, {0.5f, -10});
  const std::string bytes = read_file(folder.file("a.npy"));
  REQUIRE(bytes.size() == 128 + 8);
  CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\1\0\x76\0", 10));
  CHECK(bytes.substr(10, 58) == "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, )");
  CHECK(bytes[127] == '\n');
  CHECK(bytes.substr(128) == hex("0000003f000020c1"));
}

TEST_CASE("write_npy says where it could not write", "[data]") {
  const TemporaryFolder folder;
  check_error<WriteError>([&] { write_npy<float>(folder.file("none/a.npy"), {1}, {0}); }, {"none/a.npy"});
}

TEST_CASE("what an npy header holds does not decide how long a message gets", "[data]") {
  const std::string much(30000, 'k'), axes = [] {
    std::string text = "(";
    for (int i = 0; i < 9000; ++i) text += "1, ";
    return text + ")";
  }();
  for (const std::string& text :
       {"{'" + much + "': 1}", "{'descr': '" + much + "'}", header(much, "(1,)"), header("<f4", axes)}) {
    const TemporaryFolder folder;
    write_file(folder.file("bad.npy"), npy(text, "abcd"));
    std::string message;
    try {
      read_npy(folder.file("bad.npy"));
    } catch (const DataError& error) {
      message = error.what();
    }
    CHECK(message.size() > 20);
    CHECK(message.size() < 400);
  }
}
