// The joint histogram of where a model looks and what it sees (the paper's Figure 1).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fcam {

/// Histogram on [0,1]^2 of (a_z, s_y): attention on the true foreground, score of the true class. Bins have equal
/// width, the last is closed.
class HeatMap {
 public:
  /// Requires bins >= 1.
  explicit HeatMap(std::size_t bins = 5);

  /// Counts one mosaic. A value at an edge belongs to the bin above it, values a rounding error outside [0,1] to the
  /// nearest bin, and NaN counts as 0.
  void add(double a_z, double s_y);

  std::size_t bins() const { return bins_; }
  std::size_t total() const { return total_; }
  /// Fraction of mosaics in row r (bin of s_y, from low to high) and column c (bin of a_z, from low to high); 0 when
  /// empty.
  double at(std::size_t r, std::size_t c) const;
  /// The top right cell: mosaics that are classified right because the focus is right, confidently.
  double saif() const { return at(bins_ - 1, bins_ - 1); }

 private:
  friend class MetricsSum;  // saves and restores the counts
  std::size_t bins_, total_ = 0;
  std::vector<std::size_t> counts_;
};

/// A table in percent: top row the highest score of the true class, right column the highest focus score of the true
/// foreground, with row and column sums.
std::string to_text(const HeatMap& map);

}  // namespace fcam
