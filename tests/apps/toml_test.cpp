#include "common/toml.h"

#include <catch2/catch.hpp>

#include "support/errors.h"

using fcam::UsageError;
using fcam::apps::parse_toml;
using fcam::apps::toml_string;
using fcam::apps::TomlEntry;
using fcam::test::check_error;

namespace {

std::vector<std::string> texts(const TomlEntry& entry) {
  std::vector<std::string> result;
  for (const auto& value : entry.values) result.push_back(value.text);
  return result;
}

// The values of a single key.
std::vector<std::string> values(const std::string& text) {
  const auto entries = parse_toml(text, "x.toml");
  REQUIRE(entries.size() == 1);
  return texts(entries[0]);
}

void refuses(const std::string& text, std::initializer_list<std::string> parts) {
  INFO(text);
  check_error<UsageError>([&] { parse_toml(text, "x.toml"); }, parts);
}

}  // namespace

TEST_CASE("strings, numbers, booleans and arrays are read with their kind and line", "[toml]") {
  const auto entries =
      parse_toml("# first\na = \"x y\"\n\nb-2 = 0.5 # half\n 'c d' = [1, \"two\",]\ne_=true", "x.toml");
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].key == "a");
  CHECK(entries[0].line == 2);
  CHECK(entries[0].values[0].text == "x y");
  CHECK(entries[0].values[0].quoted);
  CHECK_FALSE(entries[0].is_array);
  CHECK(entries[1].key == "b-2");
  CHECK(entries[1].line == 4);
  CHECK(texts(entries[1]) == std::vector<std::string>{"0.5"});
  CHECK_FALSE(entries[1].values[0].quoted);
  CHECK(entries[2].key == "c d");
  CHECK(entries[2].is_array);
  CHECK(texts(entries[2]) == std::vector<std::string>{"1", "two"});
  CHECK(entries[3].values[0].text == "true");
}

TEST_CASE("a number sign, quotes, commas and brackets in strings are part of them", "[toml]") {
  CHECK(values(R"(a = "x # y, [z] = 'w' \"v\" \\" # comment)")[0] == R"(x # y, [z] = 'w' "v" \)");
  CHECK(values(R"(a = 'C:\new # "x"')")[0] == R"(C:\new # "x")");
  CHECK(values(R"(a = ["x,y", 'z]'])") == std::vector<std::string>{"x,y", "z]"});
}

TEST_CASE("escapes of strings are those of TOML", "[toml]") {
  CHECK(values(R"(a = "\t\n\u00e9\U0001F600\b\f\r")")[0] == "\t\n\xc3\xa9\xf0\x9f\x98\x80\b\f\r");
  CHECK(values("a = \"caf\xe9\"")[0] == "caf\xe9");  // bytes stay as they are
  for (const char* bad : {R"(a = "\x41")", R"(a = "\u12")", R"(a = "\ud800")", R"(a = "\U00110000")", "a = \"\\"}) {
    refuses(bad, {"x.toml", "line 1"});
  }
}

TEST_CASE("byte order mark, CRLF line ends and arrays over lines are read", "[toml]") {
  const auto entries = parse_toml(
      "\xef\xbb\xbf"
      "a = 1\r\nb = [ # one\r\n 1,\r\n 2 # two\r\n]\r\nc = 3",
      "x.toml");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].key == "a");
  CHECK(texts(entries[0]) == std::vector<std::string>{"1"});
  CHECK(texts(entries[1]) == std::vector<std::string>{"1", "2"});
  CHECK(entries[2].line == 6);
}

TEST_CASE("a repeated key is refused with both lines", "[toml]") {
  refuses("lr = 1\n\nlr = 1\n", {"'x.toml'", "line 3", "'lr'", "line 1"});
  refuses("lr = 1\n\"lr\" = 2\n", {"line 2", "'lr'"});
}

TEST_CASE("what is not TOML is refused with its line and what was expected", "[toml]") {
  refuses("a = 1\nb\n", {"line 2", "'b'", "'='"});
  refuses("[table]\na = 1", {"line 1", "key"});
  refuses("a.b = 1", {"line 1", "'='"});
  refuses("a = ", {"line 1", "value"});
  refuses("a = sa", {"line 1", "in quotes", "'sa'"});
  refuses("a = nan", {"line 1", "'nan'"});
  refuses("a = 1 2", {"line 1", "end of the line"});
  refuses("a = \"x", {"line 1", "string"});
  refuses("a = \"x\ny\"", {"line 1", "string"});
  refuses("a = [1 2]", {"line 1", "array"});
  refuses("a = [1,,2]", {"line 1", "value"});
  refuses("\na = [1,\n2", {"line 3"});
  refuses("= 1", {"line 1", "key"});
}

TEST_CASE("an empty file and one of comments alone have no entries", "[toml]") {
  for (const char* text : {"", "\n\n", "# nothing", "  # nothing\n\t\n"}) CHECK(parse_toml(text, "x").empty());
}

TEST_CASE("toml_string reads back as the same bytes, whatever they are", "[toml]") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& text : {std::string(), std::string("a b"), std::string("\"\\# ,'[]`"), all}) {
    const std::string quoted = toml_string(text);
    CHECK(quoted.find('\n') == std::string::npos);
    CHECK(values("a = " + quoted)[0] == text);
  }
}
