#include "fcam/analysis/metrics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace fcam {

template <class T>
void MetricsSum::add(int y, int z, std::span<const T> a, std::span<const T> s) {
  assert(y >= 0 && static_cast<std::size_t>(y) < s.size() && z < static_cast<int>(a.size()));
  ++n_;
  const auto predicted = static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
  const auto label = static_cast<std::size_t>(y);
  const bool correct = predicted == label;
  correct_ += correct;
  if (classes_.size() < s.size()) classes_.resize(s.size());
  ++classes_[label].n;
  classes_[label].correct += correct;
  ++classes_[predicted].predicted;
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
  const auto score = static_cast<double>(s[label]);
  heat_map_.add(a[position], score);
  standard_map_.add(a[position], score);
}

template void MetricsSum::add(int, int, std::span<const float>, std::span<const float>);
template void MetricsSum::add(int, int, std::span<const double>, std::span<const double>);

template <class T>
void MetricsSum::add_gradient(int z, std::span<const T> a, std::span<const T> gradient) {
  ++gradients_;
  for (const T g : gradient) gradient_ += std::abs(static_cast<double>(g));
  if (z < 0) return;
  // dL/df_z = a_z (1 - a_z) times the derivative by a_z; where the product is nearly zero nothing can be told.
  const auto focus = static_cast<double>(a[static_cast<std::size_t>(z)]), slope = focus * (1 - focus);
  if (slope < 1e-6) return;
  ++incentives_;
  incentive_ -= static_cast<double>(gradient[static_cast<std::size_t>(z)]) / slope;
}

template void MetricsSum::add_gradient(int, std::span<const float>, std::span<const float>);
template void MetricsSum::add_gradient(int, std::span<const double>, std::span<const double>);

Metrics MetricsSum::result() const {
  Metrics metrics{.n = std::max(n_, losses_), .heat_map = heat_map_, .classes = classes_};
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
  metrics.focus_gradient = gradient_ / positive(gradients_);
  metrics.incentive = incentive_ / positive(incentives_);
  metrics.classify_forward = static_cast<double>(forward_) / positive(metrics.n);
  metrics.classify_backward = static_cast<double>(backward_) / positive(metrics.n);
  metrics.saif = positions_ > 0 ? standard_map_.saif() : known;
  return metrics;
}

template <class Visit>
void MetricsSum::visit_numbers(Visit&& visit) {
  for (std::size_t* count : {&n_, &losses_, &positions_, &gradients_, &incentives_, &forward_, &backward_}) {
    visit(*count);
  }
  for (double* sum :
       {&loss_, &correct_, &ftpt_, &ftpf_, &located_correct_, &focus_, &entropy_, &gradient_, &incentive_}) {
    visit(*sum);
  }
  for (HeatMap* map : {&heat_map_, &standard_map_}) {
    visit(map->total_);
    for (std::size_t& count : map->counts_) visit(count);
  }
  for (ClassCounts& c : classes_) {
    for (std::size_t* count : {&c.n, &c.correct, &c.predicted}) visit(*count);
  }
}

std::vector<double> MetricsSum::numbers() const {
  std::vector<double> numbers;
  MetricsSum(*this).visit_numbers([&](auto& number) { numbers.push_back(static_cast<double>(number)); });
  return numbers;
}

bool MetricsSum::restore(std::span<const double> numbers, std::size_t classes) {
  MetricsSum restored(heat_map_.bins());
  restored.classes_.resize(classes);
  std::size_t used = 0;
  bool fits = true;
  restored.visit_numbers([&](auto& number) {
    const double value = used < numbers.size() ? numbers[used] : 0;
    ++used;
    using Number = std::remove_reference_t<decltype(number)>;
    fits &= std::is_integral_v<Number> ? value >= 0 && value < 0x1p53 : std::isfinite(value);
    if (fits) number = static_cast<Number>(value);
  });
  if (!fits || used != numbers.size()) return false;
  *this = std::move(restored);
  return true;
}

}  // namespace fcam
