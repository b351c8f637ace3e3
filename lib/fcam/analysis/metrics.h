// Numbers that describe a model on a set of mosaics.
#pragma once

#include <cstddef>
#include <span>

#include "fcam/analysis/heat_map.h"

namespace fcam {

/// Fractions in [0,1] unless said otherwise; what concerns the focus is NaN where positions are not known.
struct Metrics {
  std::size_t n = 0;          ///< mosaics
  double loss = 0;            ///< mean of the loss
  double accuracy = 0;        ///< argmax_c s_c = y, the first of equals
  double ftpt = 0, ffpt = 0;  ///< focus true (argmax_j a_j = z) or false, prediction true
  double ftpf = 0, ffpf = 0;  ///< focus true or false, prediction false; a tie among k patches counts 1/k
  double focus_mean = 0;      ///< mean of a_z
  double focus_entropy = 0;   ///< mean of -sum_j a_j ln a_j, in nats
  double saif = 0;            ///< top right cell of the 5x5 heat map
  HeatMap heat_map;           ///< of (a_z, s_y), with as many bins as asked for
};

/// Collects the metrics of mosaics one by one. The result depends on their order in the last bits only.
class MetricsSum {
 public:
  explicit MetricsSum(std::size_t bins = 5) : heat_map_(bins) {}

  /// One mosaic with label y, position z (-1: not known), attention a (m) and scores s (C).
  template <class T>
  void add(int y, int z, std::span<const T> a, std::span<const T> s);
  /// Adds `weight` times a mean loss, where weight is the number of mosaics it stands for.
  void add_loss(double mean_loss, std::size_t weight) {
    loss_ += mean_loss * static_cast<double>(weight);
    losses_ += weight;
  }

  Metrics result() const;

 private:
  std::size_t n_ = 0, losses_ = 0, positions_ = 0;
  double loss_ = 0, correct_ = 0, ftpt_ = 0, ftpf_ = 0, located_correct_ = 0, focus_ = 0, entropy_ = 0;
  HeatMap heat_map_, standard_map_;
};

}  // namespace fcam
