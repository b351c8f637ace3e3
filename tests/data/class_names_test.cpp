#include "fcam/data/class_names.h"

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

std::vector<std::string> names_in_file(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder.file("names.txt"), text);
  return read_class_names(folder.file("names.txt"));
}

void check_refused(const std::string& text, std::initializer_list<std::string> parts) {
  check_error([&] { names_in_file(text); }, {"names.txt", "expected", "found"});
  check_error([&] { names_in_file(text); }, parts);
}

}  // namespace

TEST_CASE("class names survive a byte order mark, line ends of any system, blanks and blank lines", "[data]") {
  const std::vector<std::string> expected{"plane", "car"};
  CHECK(names_in_file("plane\ncar\n") == expected);
  CHECK(names_in_file("\xef\xbb\xbfplane\r\ncar") == expected);
  CHECK(names_in_file("\xef\xbb\xbfplane\r\ncar\r\n") == expected);
  CHECK(names_in_file("plane \r\n\tcar\r\n\r\n\n  \n") == expected);
  CHECK(names_in_file("\n\nplane\r\n\r\ncar") == expected);
  CHECK(names_in_file("plane\rcar\r") == expected);
  CHECK(names_in_file("plane\r\r\ncar") == expected);
  CHECK(names_in_file("traffic light") == std::vector<std::string>{"traffic light"});
}

TEST_CASE("class names that come twice, or none at all, are refused", "[data]") {
  check_refused("plane\ncar\n\nplane\r\n", {"expected every class name once", "found 'plane' again in line 4"});
  check_refused("plane\r\n plane", {"found 'plane' again in line 2"});
  check_refused("", {"expected a class name", "found none"});
  check_refused("\xef\xbb\xbf\r\n \n", {"expected a class name", "found none"});
  check_refused(std::string("p\0l\0", 4), {"UTF-8", "zero byte"});
}

TEST_CASE("as many class names as are asked for are needed", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("names.txt"), "plane\ncar\n");
  CHECK(read_class_names(folder.file("names.txt"), 2).size() == 2);
  check_error([&] { read_class_names(folder.file("names.txt"), 3); }, {"expected 3 class names", "found 2"});
  check_error([&] { read_class_names(folder.file("none.txt"), 3); }, {"none.txt"});
}

TEST_CASE("classes without names are numbered", "[data]") {
  CHECK(numbers_as_names(3) == std::vector<std::string>{"0", "1", "2"});
  CHECK(numbers_as_names(0).empty());
}
