#include "fcam/analysis/heat_map.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace fcam;

namespace {

// Column of a map of `bins` bins that counts an attention of `value`.
std::size_t column_of(double value, std::size_t bins = 5) {
  HeatMap map(bins);
  map.add(value, 0.5);
  for (std::size_t c = 0; c < bins; ++c) {
    for (std::size_t r = 0; r < bins; ++r) {
      if (map.at(r, c) == 1) return c;
    }
  }
  return bins;
}

void add(HeatMap& map, int times, double a_z, double s_y) {
  for (int i = 0; i < times; ++i) map.add(a_z, s_y);
}

const double not_a_number = std::nan("");
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a heat map has a row for the score and a column for the attention, both from low to high", "[analysis]") {
  HeatMap map(4);
  map.add(0.9, 0.1);
  map.add(0.3, 0.6);
  map.add(0.3, 0.6);
  map.add(0.3, 0.8);
  CHECK(map.at(0, 3) == 0.25);
  CHECK(map.at(2, 1) == 0.5);
  CHECK(map.at(3, 1) == 0.25);
  CHECK(map.at(1, 2) == 0);
  CHECK(map.total() == 4);
}

TEST_CASE("the last bin is closed, the others belong to their lower edge", "[analysis]") {
  CHECK(column_of(0) == 0);
  CHECK(column_of(1) == 4);
  CHECK(column_of(std::nextafter(0.2, 0)) == 0);
  CHECK(column_of(0.2) == 1);
  CHECK(column_of(std::nextafter(0.8, 0)) == 3);
  CHECK(column_of(0.8) == 4);
}

TEST_CASE("the edges of five bins are the same for float values", "[analysis]") {
  CHECK(column_of(0.2F) == 1);
  CHECK(column_of(0.4F) == 2);
  CHECK(column_of(0.6F) == 3);
  CHECK(column_of(0.8F) == 4);
  CHECK(column_of(1.0F) == 4);
  CHECK(column_of(std::nextafterf(0.6F, 0)) == 2);
}

TEST_CASE("every edge k/n belongs to the bin above it, however many bins there are", "[analysis]") {
  for (std::size_t n = 1; n <= 100; ++n) {
    for (std::size_t k = 0; k < n; ++k) {
      const double edge = static_cast<double>(k) / static_cast<double>(n);
      if (column_of(edge, n) != k) FAIL_CHECK(k << "/" << n);
      if (k > 0 && column_of(std::nextafter(edge, 0), n) != k - 1) FAIL_CHECK("below " << k << "/" << n);
    }
  }
}

TEST_CASE("values outside [0,1] go to the nearest bin, NaN to the lowest", "[analysis]") {
  CHECK(column_of(-1e-9) == 0);
  CHECK(column_of(1 + 1e-7) == 4);
  CHECK(column_of(-infinity) == 0);
  CHECK(column_of(infinity) == 4);
  CHECK(column_of(not_a_number) == 0);
  HeatMap map;
  map.add(not_a_number, not_a_number);
  CHECK(map.at(0, 0) == 1);
  CHECK(map.total() == 1);
}

TEST_CASE("an empty heat map is zero everywhere", "[analysis]") {
  const HeatMap map(3);
  CHECK(map.total() == 0);
  CHECK(map.at(2, 2) == 0);
  CHECK(map.saif() == 0);
}

TEST_CASE("saif is the share of the cell of highest score and highest attention", "[analysis]") {
  HeatMap map;
  add(map, 3, 0.81, 1);
  add(map, 1, 0.79, 1);
  add(map, 1, 1, 0.79);
  CHECK(map.saif() == 0.6);
  CHECK(map.saif() == map.at(4, 4));
}

TEST_CASE("a heat map of one bin counts everything there", "[analysis]") {
  HeatMap map(1);
  add(map, 2, 0, 1);
  CHECK(map.saif() == 1);
  CHECK(to_text(map) ==
        " s_y \\ a_z 0.0-1.0     sum\n"
        "   0.0-1.0   100.0   100.0\n"
        "       sum   100.0   100.0\n");
}

TEST_CASE("the table has the highest score on top, the highest attention to the right, and sums", "[analysis]") {
  HeatMap map(2);
  add(map, 4, 0.9, 0.9);
  add(map, 1, 0.9, 0.1);
  add(map, 3, 0.1, 0.9);
  CHECK(to_text(map) ==
        " s_y \\ a_z 0.0-0.5 0.5-1.0     sum\n"
        "   0.5-1.0    37.5    50.0    87.5\n"
        "   0.0-0.5     0.0    12.5    12.5\n"
        "       sum    37.5    62.5   100.0\n");
}

TEST_CASE("mosaics of one patch fill the right column of the table", "[analysis]") {
  HeatMap map;
  add(map, 3, 1, 0.5);
  add(map, 1, 1, 1);
  CHECK(to_text(map) ==
        " s_y \\ a_z 0.0-0.2 0.2-0.4 0.4-0.6 0.6-0.8 0.8-1.0     sum\n"
        "   0.8-1.0     0.0     0.0     0.0     0.0    25.0    25.0\n"
        "   0.6-0.8     0.0     0.0     0.0     0.0     0.0     0.0\n"
        "   0.4-0.6     0.0     0.0     0.0     0.0    75.0    75.0\n"
        "   0.2-0.4     0.0     0.0     0.0     0.0     0.0     0.0\n"
        "   0.0-0.2     0.0     0.0     0.0     0.0     0.0     0.0\n"
        "       sum     0.0     0.0     0.0     0.0   100.0   100.0\n");
}

TEST_CASE("the table rounds halves up, as a reader does", "[analysis]") {
  HeatMap two(2);
  add(two, 3, 0.9, 0.9);  // 0.15 percent
  add(two, 1997, 0.1, 0.1);
  CHECK_THAT(to_text(two), Catch::Contains("   0.5-1.0     0.0     0.2     0.2\n"));
}
