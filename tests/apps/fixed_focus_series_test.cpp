#include "common/fixed_focus_series.h"

#include <catch2/catch.hpp>

#include "support/errors.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::apps;
using namespace fcam::test;

namespace {

// ha before sa in the making, sa before ha in the files; two epochs after epoch 0.
SeriesMap sample() {
  SeriesMap all;
  all[{1, 0.5}] = {{1.5, 0.25, 25.5}, {1.25, 0.125, 1.0 / 3}, {1e-9, -1e-300, 0}};
  all[{0, 1}] = {{3, 0, 2}, {2, 0, 1}, {1, 0, 0.5}};
  all[{0, 0.1}] = {{6, 5, 4}, {5, 4, 3}, {4, 3, 2}};
  return all;
}

struct Files {
  explicit Files(const SeriesMap& all) : Files(loss_csv(all), incentive_csv(all)) {}
  Files(const std::string& losses, const std::string& incentives) {
    write_file(folder.file("loss.csv"), losses);
    write_file(folder.file("incentive.csv"), incentives);
  }
  SeriesMap read(std::size_t epochs = 2) const {
    return read_series(folder.file("loss.csv"), folder.file("incentive.csv"), epochs);
  }
  TemporaryFolder folder;
};

void check_same(const SeriesMap& a, const SeriesMap& b) {
  CHECK(loss_csv(a) == loss_csv(b));
  CHECK(incentive_csv(a) == incentive_csv(b));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("the two files have the documented columns, losses in the paper's order and alpha ascending", "[fixed]") {
  CHECK(loss_csv(sample()) ==
        "loss,alpha,epoch,value\nsa,0.1,0,6\nsa,0.1,1,5\nsa,0.1,2,4\nsa,1,0,3\nsa,1,1,2\nsa,1,2,1\n"
        "ha,0.5,0,1.5\nha,0.5,1,1.25\nha,0.5,2,1e-09\n");
  CHECK(incentive_csv(sample()) ==
        "loss,alpha,epoch,difference,derivative\nsa,0.1,0,5,4\nsa,0.1,1,4,3\nsa,0.1,2,3,2\nsa,1,0,0,2\nsa,1,1,0,1\n"
        "sa,1,2,0,0.5\nha,0.5,0,0.25,25.5\nha,0.5,1,0.125,0.3333333333333333\nha,0.5,2,-1e-300,0\n");
}

TEST_CASE("series read back as the same numbers", "[fixed]") {
  check_same(Files(sample()).read(), sample());
  CHECK(Files(SeriesMap{}).read().empty());
  const TemporaryFolder empty;
  CHECK(read_series(empty.file("loss.csv"), empty.file("incentive.csv"), 2).empty());
}

TEST_CASE("a series that only the file written first has is dropped, more of them are an error", "[fixed]") {
  SeriesMap fewer = sample();
  fewer.erase({0, 1});
  check_same(Files(loss_csv(sample()), incentive_csv(fewer)).read(), fewer);
  check_error<DataError>([&] { Files(loss_csv(fewer), incentive_csv(sample())).read(); }, {"loss.csv", "1 missing"});
  fewer.erase({0, 0.1});
  check_error<DataError>([&] { Files(loss_csv(sample()), incentive_csv(fewer)).read(); },
                         {"incentive.csv", "2 missing"});
}

TEST_CASE("damaged series files are refused with file and line", "[fixed]") {
  const std::string losses = loss_csv(sample()), incentives = incentive_csv(sample());
  const auto check = [&](const std::string& what, const std::string& by, std::initializer_list<std::string> parts) {
    CAPTURE(what, by);
    check_error<DataError>([&] { Files(replaced(losses, what, by), incentives).read(); }, parts);
  };
  check("value", "loss", {"loss.csv", "header", "loss,alpha,epoch,value"});
  check("sa,0.1,1,5", "sa,0.1,1,5,7", {"loss.csv", "line 3", "4 fields", "5"});
  check("sa,0.1,1,5", "sb,0.1,1,5", {"loss.csv", "line 3", "a loss", "'sb'"});
  check("sa,0.1,1,5", "sa,zero,1,5", {"loss.csv", "line 3", "alpha", "'zero'"});
  check("sa,0.1,1,5", "sa,0.1,1,five", {"loss.csv", "line 3", "a number", "'five'"});
  check("sa,0.1,1,5", "sa,0.1,1,nan", {"loss.csv", "line 3", "a number", "'nan'"});
  check("sa,0.1,1,5\n", "", {"loss.csv", "line 3", "epoch 1 of 2 of sa, alpha 0.1", "'2'"});
  check("ha,0.5,2,1e-09\n", "", {"loss.csv", "another row of ha, alpha 0.5", "the end"});
  check("ha,0.5,2,1e-09\n", "ha,0.5,2,1e-", {"loss.csv", "line 10", "'1e-'"});
  check("sa,1,0,3\nsa,1,1,2\nsa,1,2,1\n", "sa,0.1,0,6\nsa,0.1,1,5\nsa,0.1,2,4\n", {"each series once", "line 5"});
  check_error<DataError>([&] { Files(sample()).read(1); }, {"loss.csv", "line 4", "again"});
  check_error<DataError>([&] { Files(sample()).read(3); }, {"loss.csv", "line 5", "epoch 3 of 3"});
}
