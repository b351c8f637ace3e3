// Numbers that describe a model on a set of mosaics.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "fcam/analysis/heat_map.h"

namespace fcam {

/// Of the mosaics of one class.
struct ClassCounts {
  std::size_t n = 0;          ///< with this label
  std::size_t correct = 0;    ///< of them predicted to be of it
  std::size_t predicted = 0;  ///< of all mosaics predicted to be of it
};

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
  /// Of training steps alone, otherwise NaN: mean of sum_j |dL/df(x_j)|, the pull on the focus; and mean of the
  /// incentive to focus, minus the derivative of L by a_z where the other patches share what is left as they do now.
  double focus_gradient = std::numeric_limits<double>::quiet_NaN();
  double incentive = std::numeric_limits<double>::quiet_NaN();
  double classify_forward = 0;       ///< patches that g has seen a mosaic, the loss and the metrics together
  double classify_backward = 0;      ///< of them those that g has had a gradient of
  HeatMap heat_map;                  ///< of (a_z, s_y), with as many bins as asked for
  std::vector<ClassCounts> classes;  ///< C of them; none without mosaics
};

/// Collects the metrics of mosaics one by one. The result depends on their order in the last bits only.
class MetricsSum {
 public:
  explicit MetricsSum(std::size_t bins = 5) : heat_map_(bins) {}

  /// One mosaic with label y, position z (-1: not known), attention a (m) and scores s (C).
  template <class T>
  void add(int y, int z, std::span<const T> a, std::span<const T> s);
  /// The gradient of a mosaic's loss in its scores f, (m).
  template <class T>
  void add_gradient(int z, std::span<const T> a, std::span<const T> gradient);
  /// Patches that g has seen, and those of them that it has had a gradient of.
  void add_calls(std::size_t forward, std::size_t backward) {
    forward_ += forward;
    backward_ += backward;
  }
  /// Adds `weight` times a mean loss, where weight is the number of mosaics it stands for.
  void add_loss(double mean_loss, std::size_t weight) {
    loss_ += mean_loss * static_cast<double>(weight);
    losses_ += weight;
  }

  Metrics result() const;

  /// All that was collected as numbers, for a sum that goes on in another process.
  std::vector<double> numbers() const;
  /// Puts a sum of the same bins where these numbers of C classes were taken; false, and no change, where they are none
  /// of such a sum.
  bool restore(std::span<const double> numbers, std::size_t classes);

 private:
  template <class Visit>
  void visit_numbers(Visit&& visit);

  std::size_t n_ = 0, losses_ = 0, positions_ = 0, gradients_ = 0, incentives_ = 0, forward_ = 0, backward_ = 0;
  double loss_ = 0, correct_ = 0, ftpt_ = 0, ftpf_ = 0, located_correct_ = 0, focus_ = 0, entropy_ = 0, gradient_ = 0,
         incentive_ = 0;
  HeatMap heat_map_, standard_map_;
  std::vector<ClassCounts> classes_;
};

}  // namespace fcam
