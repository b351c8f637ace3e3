// What the paper says of a figure, judged by one number and one threshold.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fcam {

enum class Verdict { holds, fails, not_judged };

/// A statement of the paper and how it was judged.
struct Observation {
  std::string id;         ///< "1a": Figure 1
  std::string statement;  ///< what the paper sees
  std::string measure;    ///< the number that it is judged by
  bool percent = true;    ///< whether to show measured and threshold in percent
  bool above = false;     ///< holds where measured > threshold; else where measured <= threshold
  double threshold = 0;
  double measured = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not judged
  std::string missing = {};                                    ///< what it would take to judge it

  Verdict verdict() const;
};

/// Mean and standard deviation of independent values.
struct Spread {
  std::size_t n = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< with n - 1; NaN for fewer than two values
};
Spread spread_of(const std::vector<double>& values);

/// A number to judge by, or what is missing for it.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string missing = {};
};

inline Measured missing(std::string what) { return {.missing = std::move(what)}; }

/// Observations that hold where the number is at most, or above, the threshold.
Observation at_most(std::string id, std::string statement, std::string measure, double threshold, Measured measured);
Observation above(std::string id, std::string statement, std::string measure, double threshold, Measured measured);
/// The same, shown as a plain number.
Observation not_in_percent(Observation observation);

}  // namespace fcam
