#include "common/command_line.h"

#include <catch2/catch.hpp>
#include <limits>

#include "support/errors.h"
#include "support/temporary_folder.h"

using namespace fcam::apps;
using fcam::UsageError;
using fcam::test::check_error;
using fcam::test::TemporaryFolder;
using fcam::test::write_file;

namespace {

constexpr auto largest_count = std::numeric_limits<std::size_t>::max();

// A command line with an option of each kind.
struct Example {
  Example() : line("program", "An example.") {
    line.flag("flag", flag, "a flag");
    line.text("text", text, "a text");
    line.count("count", count, 0, largest_count, "a count");
    line.count("small", small, 2, 20, "a small count");
    line.number("number", number, 0, 1, "a number");
    line.number("open", open, -5, std::numeric_limits<double>::infinity(), "a number without end");
    line.list("list", list, "a list");
    line.choice("choice", choice, {"one", "two"}, "a choice");
    line.text("once", once, "for this call");
    line.not_recorded("once");
  }
  Example& read(std::vector<std::string> arguments, const std::string& default_config = "") {
    std::vector<const char*> argv{"program"};
    for (const auto& argument : arguments) argv.push_back(argument.c_str());
    line.parse(static_cast<int>(argv.size()), argv.data(), [&] { return default_config; });
    return *this;
  }

  bool flag = false;
  std::string text = "default", choice = "one", once;
  std::size_t count = 7, small = 5;
  double number = 0.5, open = 1;
  std::vector<std::string> list{"default"};
  CommandLine line;
};

void refuses(const std::vector<std::string>& arguments, std::initializer_list<std::string> parts) {
  INFO(arguments[0]);
  check_error<UsageError>([&] { Example().read(arguments); }, parts);
}

// A configuration file of that content.
class Config {
 public:
  explicit Config(const std::string& content) { write_file(path(), content); }
  std::string path() const { return folder_.file("x y.toml"); }

 private:
  TemporaryFolder folder_;
};

void refuses_config(const std::string& content, std::initializer_list<std::string> parts) {
  const Config config(content);
  INFO(content);
  refuses({"--config", config.path()}, parts);
}

}  // namespace

TEST_CASE("options keep their defaults, or take what stands after a blank or an equals sign", "[command_line]") {
  Example defaults;
  CHECK(defaults.read({}).text == "default");
  CHECK(defaults.count == 7);
  CHECK(defaults.list == std::vector<std::string>{"default"});
  CHECK_FALSE(defaults.line.given("text"));

  Example example;
  example.read({"--text=a=b", "--count", "3", "--flag", "--number=1e-2", "--list", "a, b,c d", "--choice", "TWO"});
  CHECK(example.text == "a=b");
  CHECK(Example().read({"--text=--flag"}).text == "--flag");
  CHECK(Example().read({"--text", "-x"}).text == "-x");
  CHECK(example.count == 3);
  CHECK(example.flag);
  CHECK(example.number == 0.01);
  CHECK(example.list == std::vector<std::string>{"a", "b", "c d"});
  CHECK(example.choice == "two");
  CHECK(example.line.given("text"));
  CHECK_FALSE(example.line.given("open"));
}

TEST_CASE("counts are decimal, to the largest of 64 bits, and nothing else", "[command_line]") {
  CHECK(Example().read({"--count", "0"}).count == 0);
  CHECK(Example().read({"--count", "18446744073709551615"}).count == largest_count);
  for (const char* bad : {"18446744073709551616", "99999999999999999999999", "1e3", "0x10", "-1", "+1", "1.0", " 1",
                          "1 ", "1,000", "nan", "ten", "\xd9\xa3"}) {
    refuses({"--count", bad}, {"count: expected a whole number from 0", std::string("'") + bad + "'"});
  }
  for (const char* bad : {"010", "007", "00"}) {
    refuses({"--count", bad},
            {"count: expected a whole number from 0", std::string("'") + bad + "', with a zero in front"});
    refuses_config(std::string("count = ") + bad, {"line 1: count", bad, "with a zero in front"});
  }
  refuses({"--small", "1"}, {"small", "from 2 to 20", "'1'"});
  refuses({"--small", "21"}, {"small", "from 2 to 20", "'21'"});
}

TEST_CASE("numbers are finite decimals in range, with a point", "[command_line]") {
  CHECK(Example().read({"--number", "+.25"}).number == 0.25);
  CHECK(Example().read({"--open", "1e300"}).open == 1e300);
  CHECK(Example().read({"--open", "-5"}).open == -5);
  CHECK(Example().read({"--open=-.5"}).open == -0.5);
  for (const char* bad :
       {"nan", "NaN", "inf", "-inf", "1e999", "0,5", "0x1p3", "1e", "--1", "+-1", "half", " 1", "1 "}) {
    refuses({std::string("--open=") + bad}, {"open: expected a number from -5 up", bad});
  }
  CHECK(Example().read({"--number", "0e05"}).number == 0);
  for (const char* bad : {"00.5", "01", "+00.5", "-01", "00"}) {
    refuses({std::string("--open=") + bad}, {"open: expected a number from -5 up", bad, "with a zero in front"});
    refuses_config(std::string("open = ") + bad, {"line 1: open", bad, "with a zero in front"});
  }
  refuses({"--number", "1.5"}, {"number", "from 0 to 1", "'1.5'"});
  refuses({"--number", "-0.1"}, {"number", "from 0 to 1", "'-0.1'"});
}

TEST_CASE("an option that stands twice is refused, whatever its kind", "[command_line]") {
  refuses({"--text", "a", "--text", "b"}, {"text: expected once", "'a'", "'b'"});
  refuses({"--count=1", "--count=1"}, {"count: expected once"});
  refuses({"--list", "a", "--list", "b"}, {"list: expected once"});
  refuses({"--config", "a", "--config", "b"}, {"config: expected once"});
}

TEST_CASE("a value that is missing or empty is refused", "[command_line]") {
  refuses({"--text"}, {"text: expected a value, found none"});
  refuses({"--text", "--flag"}, {"text: expected a value, found the option '--flag'"});
  refuses({"--config"}, {"config: expected a value, found none"});
  refuses({"--text", ""}, {"text: expected", "''"});
  refuses({"--text=", "a"}, {"text: expected", "''"});
  refuses({"--count", ""}, {"count: expected", "''"});
  refuses({"--number", ""}, {"number: expected", "''"});
  refuses({"--list", ""}, {"list: expected"});
  refuses({"--list", " , "}, {"list: expected"});
  refuses({"--config", ""}, {"config: expected", "''"});
  refuses({"--choice", ""}, {"choice: expected one of one, two", "''"});
}

TEST_CASE("a flag takes no value", "[command_line]") {
  refuses({"--flag=true"}, {"flag: expected no value", "'true'"});
  refuses({"--flag="}, {"flag: expected no value"});
  refuses({"--help=x"}, {"help: expected no value"});
}

TEST_CASE("an unknown option or word is refused with those that exist and the nearest", "[command_line]") {
  refuses({"--txt", "a"}, {"--text", "--count", "--config", "'--txt' (nearest: --text)"});
  refuses({"--txt=a"}, {"'--txt' (nearest: --text)"});
  refuses({"-x"}, {"option: expected one of", "'-x'"});
  refuses({"word"}, {"argument: expected only options", "'word'"});
  refuses({"--", "word"}, {"'word'"});
  refuses({"--text", "a", "b"}, {"argument: expected only options, found 'b'"});
  refuses({"--choice", "tow"}, {"choice: expected one of one, two, found 'tow'", "nearest"});
  refuses({"--a\nb"}, {"--a\\x0ab"});
}

TEST_CASE("arguments without a dash are taken where a program wants some", "[command_line]") {
  std::vector<std::string> runs;
  CommandLine line("program", "");
  line.arguments("RUN", runs, "runs");
  const char* const argv[] = {"program", "a b", "c", "--", "-d"};
  line.parse(5, argv);
  CHECK(runs == std::vector<std::string>{"a b", "c", "-d"});

  runs.clear();
  std::string text;
  CommandLine other("program", "");
  other.arguments("RUN", runs, "runs");
  other.text("text", text, "a text");
  const char* const mixed[] = {"program", "a", "--text", "b", "c", "--", "-d"};
  other.parse(7, mixed);
  CHECK(text == "b");
  CHECK(runs == std::vector<std::string>{"a", "c", "-d"});
}

TEST_CASE("a configuration file sets what the command line does not", "[command_line]") {
  const Config config(
      "# all kinds\ntext = \"a # b, 'c' \\\"d\\\"\"\ncount = 18446744073709551615\nnumber = 2.5e-1\n"
      "flag = true\nlist = [\"a,b\", 2]\nchoice = \"Two\"\nonce = 'x'\nopen = 3\n");
  Example example;
  example.read({"--open", "4", "--config", config.path()});
  CHECK(example.text == "a # b, 'c' \"d\"");
  CHECK(example.count == largest_count);
  CHECK(example.number == 0.25);
  CHECK(example.flag);
  CHECK(example.list == std::vector<std::string>{"a,b", "2"});
  CHECK(example.choice == "two");
  CHECK(example.once == "x");
  CHECK(example.open == 4);
  CHECK(example.small == 5);
  CHECK(example.line.given("text"));
  CHECK_FALSE(example.line.given("small"));
}

TEST_CASE("a list is also read from a string with commas, and replaced by the command line", "[command_line]") {
  const Config config("list = \"a, b\"");
  CHECK(Example().read({"--config", config.path()}).list == std::vector<std::string>{"a", "b"});
  CHECK(Example().read({"--config", config.path(), "--list", "c"}).list == std::vector<std::string>{"c"});
  CHECK(Example().read({"--config", Config("list = 3").path()}).list == std::vector<std::string>{"3"});
}

TEST_CASE("a key that is unknown or repeated is refused with file, line and nearest name", "[command_line]") {
  refuses_config("text = 'a'\nnumbr = 1", {"x y.toml", "line 2", "'numbr' (nearest: number)"});
  refuses_config("count = 1\ncount = 1", {"x y.toml", "line 2", "'count'"});
  refuses_config("config = 'other'", {"line 1", "'config'"});
  refuses_config("help = true", {"line 1", "'help'"});
}

TEST_CASE("a value of the wrong kind in a configuration file is refused", "[command_line]") {
  refuses_config("count = '3'", {"line 1", "count: expected a number", "string '3'"});
  refuses_config("count = 1.5", {"line 1", "count", "'1.5'"});
  refuses_config("count = true", {"line 1", "count", "'true'"});
  refuses_config("number = [0.5]", {"line 1", "number: expected one value", "array"});
  refuses_config("\nnumber = 2", {"line 2", "number", "from 0 to 1"});
  refuses_config("flag = 'true'", {"line 1", "flag: expected true or false"});
  refuses_config("flag = 1", {"line 1", "flag: expected true or false"});
  refuses_config("text = 3", {"line 1", "text: expected a string in quotes"});
  refuses_config("text = ''", {"line 1", "text: expected"});
  refuses_config("list = []", {"line 1", "list: expected at least one name"});
  refuses_config("list = ['']", {"line 1", "list: expected names"});
}

TEST_CASE("a configuration file that is missing or a folder is refused", "[command_line]") {
  const TemporaryFolder folder;
  refuses({"--config", folder.file("none.toml")}, {"config", "none.toml", "No such file"});
  refuses({"--config", folder.path().string()}, {"config", "a folder"});
}

TEST_CASE("the default configuration comes last, and what is wrong with it is wrong with the data", "[command_line]") {
  const Config config("count = 1\nsmall = 3"), recorded("count = 2\nsmall = 4\ntext = 'recorded'");
  Example example;
  example.read({"--config", config.path(), "--small", "9"}, recorded.path());
  CHECK(example.count == 1);
  CHECK(example.small == 9);
  CHECK(example.text == "recorded");
  check_error([] { Example().read({}, Config("numbr = 1").path()); }, {"x y.toml", "'numbr'"});
  check_error([] { Example().read({}, "/none/config.toml"); }, {"/none/config.toml"});
}

TEST_CASE("a default configuration that is not whole is refused where it must be", "[command_line]") {
  Example first;
  first.text = "recorded";
  const std::string whole = first.line.to_toml();
  const auto read = [](const std::string& content, std::vector<const char*> argv) {
    const Config config(content);
    Example example;
    argv.insert(argv.begin(), "program");
    example.line.parse(
        static_cast<int>(argv.size()), argv.data(), [&] { return config.path(); }, true);
    return example.text;
  };
  CHECK(read(whole, {"--choice", "two"}) == "recorded");
  for (const std::string& content :
       {std::string(), std::string("# no more\n"), whole.substr(0, whole.find("choice"))}) {
    check_error([&] { read(content, {"--choice", "two"}); }, {"x y.toml", "'choice' at the end"});
  }
}

TEST_CASE("to_toml reads back as the same values and leaves out what is not recorded", "[command_line]") {
  Example first;
  first.text = "it's \"a\" \\ # b\xe9";
  first.list = {"a,b", "c"};
  first.number = 0.1;
  first.count = largest_count;
  first.once = "x";
  first.flag = true;
  const std::string text = first.line.to_toml();
  CHECK_THAT(text, Catch::Contains("number = 0.1\n") && Catch::Contains("flag = true\n"));
  CHECK_THAT(text, !Catch::Contains("once"));

  const Config config(text);
  Example second;
  second.read({"--config", config.path()});
  CHECK(second.text == first.text);
  CHECK(second.list == first.list);
  CHECK(second.line.to_toml() == text);
  CHECK(second.once.empty());
}

TEST_CASE("values that are not there are not written", "[command_line]") {
  Example example;
  example.text.clear();
  example.list.clear();
  example.number = std::numeric_limits<double>::quiet_NaN();
  CHECK(example.line.to_toml() == "flag = false\ncount = 7\nsmall = 5\nopen = 1\nchoice = \"one\"\n");
  CHECK(example.line.to_toml("text").empty());
  CHECK(example.line.to_toml("small") == "5");
}

TEST_CASE("split_list trims its parts, keeps empty ones, and takes a comma after the last", "[command_line]") {
  CHECK(split_list(" a, b c ,,d") == std::vector<std::string>{"a", "b c", "", "d"});
  CHECK(split_list("a,") == std::vector<std::string>{"a"});
  CHECK(split_list("a,,") == std::vector<std::string>{"a", ""});
  CHECK(split_list("") == std::vector<std::string>{""});
}
