#include "common/plot_range.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace fcam::apps;

namespace {

void check_range(const std::vector<double>& values, double low, double high, std::size_t beyond) {
  const PlotRange range = range_without_outliers(values);
  CAPTURE(values);
  CHECK(range.low == low);
  CHECK(range.high == high);
  CHECK(range.beyond == beyond);
}

}  // namespace

TEST_CASE("an axis shows all values and zero where none lies far off", "[plot]") {
  check_range({}, 0, 0, 0);
  check_range({2, 3}, 0, 3, 0);
  check_range({-1, 1000}, -1, 1000, 0);  // of so few none is usual
  std::vector<double> values(21);
  std::iota(values.begin(), values.end(), -10.0);
  check_range(values, -10, 10, 0);
  values.back() = 9 + 2 * (9 + 9);  // the middle 90 % are -9 to 9
  check_range(values, -10, 45, 0);
}

TEST_CASE("an axis leaves out a few values that lie far off, and counts them", "[plot]") {
  std::vector<double> values(40);
  std::iota(values.begin(), values.end(), 1.0);
  values[0] = -1080, values[1] = 1e300, values[2] = NAN, values[3] = -INFINITY;
  check_range(values, 0, 40, 2);
}
