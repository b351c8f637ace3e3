#include "fcam/analysis/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace fcam {

template <class T>
void MetricsSum::add(int y, int z, std::span<const T> a, std::span<const T> s) {
  assert(y >= 0 && static_cast<std::size_t>(y) < s.size() && z < static_cast<int>(a.size()));
  ++n_;
  const bool correct = std::max_element(s.begin(), s.end()) - s.begin() == y;
  correct_ += correct;
  for (const T weight : a) {
    const auto w = static_cast<double>(weight);
    if (w > 0) entropy_ -= w * std::log(w);
  }
  if (z < 0) return;
  ++positions_;
  const auto position = static_cast<std::size_t>(z);
  const T largest = *std::max_element(a.begin(), a.end());
  const auto ties = std::count(a.begin(), a.end(), largest);
  const double focus_true = a[position] == largest ? 1.0 / static_cast<double>(ties) : 0.0;
  located_correct_ += correct;
  (correct ? ftpt_ : ftpf_) += focus_true;
  focus_ += static_cast<double>(a[position]);
  const auto score = static_cast<double>(s[static_cast<std::size_t>(y)]);
  heat_map_.add(a[position], score);
  standard_map_.add(a[position], score);
}

template void MetricsSum::add(int, int, std::span<const float>, std::span<const float>);
template void MetricsSum::add(int, int, std::span<const double>, std::span<const double>);

Metrics MetricsSum::result() const {
  Metrics metrics{.n = std::max(n_, losses_), .heat_map = heat_map_};
  const auto positive = [](std::size_t count) {
    return count > 0 ? static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  };
  metrics.loss = loss_ / positive(metrics.n);
  metrics.accuracy = correct_ / positive(n_);
  metrics.focus_entropy = entropy_ / positive(n_);
  const double known = positive(positions_);
  metrics.ftpt = ftpt_ / known;
  metrics.ftpf = ftpf_ / known;
  metrics.ffpt = (located_correct_ - ftpt_) / known;
  metrics.ffpf = (static_cast<double>(positions_) - located_correct_ - ftpf_) / known;
  metrics.focus_mean = focus_ / known;
  metrics.saif = positions_ > 0 ? standard_map_.saif() : known;
  return metrics;
}

}  // namespace fcam
