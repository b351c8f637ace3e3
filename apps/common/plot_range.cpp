#include "common/plot_range.h"

#include <algorithm>
#include <cmath>

namespace fcam::apps {

PlotRange range_without_outliers(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  PlotRange range;
  if (values.empty()) return range;
  std::sort(values.begin(), values.end());
  const std::size_t tail = values.size() / 20;
  const double bottom = values[tail], top = values[values.size() - 1 - tail], room = 2 * (top - bottom);
  for (const double value : values) {
    if (value < bottom - room || value > top + room) {
      ++range.beyond;
    } else {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  return range;
}

}  // namespace fcam::apps
