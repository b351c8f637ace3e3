#include "common/csv.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "support/errors.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::apps;
using namespace fcam::test;

namespace {

std::string write(const TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder.file("table.csv"), std::ios::binary) << text;
  return folder.file("table.csv");
}

}  // namespace

TEST_CASE("a table is read by the names of its columns, remarks apart", "[csv]") {
  const TemporaryFolder folder;
  const CsvTable table(write(folder, "loss,t,mu\nsa,0,1.5\n# stopped early\nlv,1e-3,\n"));
  REQUIRE(table.rows() == 2);
  CHECK(table.text(1, "loss") == "lv");
  CHECK(table.number(0, "mu") == 1.5);
  CHECK(table.number(1, "t") == 1e-3);
  CHECK(std::isnan(table.number(1, "mu")));
  CHECK(table.remarks() == std::vector<std::string>{"stopped early"});
  CHECK(first_line(folder.file("table.csv")) == "loss,t,mu");
}

TEST_CASE("a table that is damaged is refused with its line", "[csv]") {
  const TemporaryFolder folder;
  check_error([&] { CsvTable table(write(folder, "a,b\n1,2\n3\n")); }, {"expected 2 fields in line 3, found 1"});
  check_error([&] { CsvTable table(write(folder, "a,b\n1,2")); }, {"line feed", "line 2"});
  const CsvTable table(write(folder, "a,b\n1,x\n"));
  check_error([&] { table.number(0, "b"); }, {"a number b in line 2", "found 'x'"});
  check_error([&] { table.number(0, "c"); }, {"a column 'c'"});
  CHECK(CsvTable(write(folder, "")).rows() == 0);
}
