// The range of an axis that a few outliers do not stretch.
#pragma once

#include <cstddef>
#include <vector>

namespace fcam::apps {

struct PlotRange {
  double low = 0, high = 0;
  std::size_t beyond = 0;  ///< values outside
};

/// A range with 0 and all finite values, but for those that lie farther from the middle 90 % than twice their spread:
/// among 20 values or more, one in twenty at each end can be such.
PlotRange range_without_outliers(std::vector<double> values);

}  // namespace fcam::apps
