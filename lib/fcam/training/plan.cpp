#include "fcam/training/plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fcam {
namespace {

double rate_or(double rate, const NamedLoss& loss) { return std::isnan(rate) ? loss.learning_rate : rate; }

template <class T>
Phase<T> phase_of(const NamedLoss& loss, const LossOptions& options, double learning_rate) {
  return {.loss = loss_function<T>(loss, options),
          .inference = loss.step_inference,
          .test_loss = loss_function<T>(find_loss(loss.exact), options),
          .test_inference = loss.inference,
          .learning_rate = rate_or(learning_rate, loss)};
}

constexpr std::size_t window = 5;  // epochs, over which the entropy is averaged

double mean_entropy(std::span<const EpochFocus> epochs) {
  double sum = 0;
  for (const EpochFocus& epoch : epochs) sum += epoch.entropy;
  return sum / static_cast<double>(epochs.size());
}

template <class T>
LossFunction<T> mixed(LossFunction<T> first, LossFunction<T> second, T weight) {
  return [=](Graph<T>& graph, const Batch<T>& batch) {
    return (1 - weight) * first(graph, batch) + weight * second(graph, batch);
  };
}

template <class T>
Plan<T> hybrid_plan(const PlanOptions& options) {
  const Phase<T> soft = phase_of<T>(find_loss("sa"), options.loss, options.learning_rate);
  const Phase<T> hard =
      phase_of<T>(find_loss(options.sampled ? "ha-sampled" : "ha"), options.loss, options.then_learning_rate);
  return {[=](std::span<const EpochFocus> epochs) {
    const std::size_t done = epochs.size();
    const std::optional<std::size_t> soft_epochs = options.switch_epoch ? options.switch_epoch : faded(epochs);
    if (!soft_epochs || done < *soft_epochs) return soft;
    const std::size_t since = done - *soft_epochs;
    Phase<T> phase = hard;
    phase.anew = since == 0;
    if (since < options.blend) {
      const double weight = static_cast<double>(since + 1) / (static_cast<double>(options.blend) + 1);
      phase.loss = mixed(soft.loss, hard.loss, static_cast<T>(weight));
      phase.test_loss = mixed(soft.test_loss, hard.test_loss, static_cast<T>(weight));
      phase.learning_rate = std::pow(soft.learning_rate, 1 - weight) * std::pow(hard.learning_rate, weight);
    }
    return phase;
  }};
}

}  // namespace

template <class T>
Plan<T> constant_plan(LossFunction<T> loss, std::optional<Inference> inference, double learning_rate) {
  const Phase<T> phase{.loss = loss,
                       .inference = inference,
                       .test_loss = loss,
                       .test_inference = inference,
                       .learning_rate = learning_rate};
  return {[phase](std::span<const EpochFocus>) { return phase; }};
}

template <class T>
Plan<T> named_plan(const NamedLoss& loss, const PlanOptions& options) {
  if (loss.name == "hybrid") return hybrid_plan<T>(options);
  const Phase<T> phase = phase_of<T>(loss, options.loss, options.learning_rate);
  return {[phase](std::span<const EpochFocus>) { return phase; }};
}

std::optional<std::size_t> faded(std::span<const EpochFocus> epochs) {
  double largest_gradient = 0, largest_entropy = 0;
  for (std::size_t done = 1; done <= epochs.size(); ++done) {
    const auto& [gradient, entropy] = epochs[done - 1];
    largest_gradient = std::max(largest_gradient, gradient);
    largest_entropy = std::max(largest_entropy, entropy);
    if (gradient <= largest_gradient / 2) return done;
    if (done < 2 * window) continue;
    const double last = mean_entropy(epochs.subspan(done - window, window));
    const double before = mean_entropy(epochs.subspan(done - 2 * window, window));
    if (last <= 0.9 * largest_entropy && last > 0.97 * before) return done;
  }
  return std::nullopt;
}

double schedule_factor(Schedule schedule, std::size_t number, std::size_t epochs) {
  const double over = static_cast<double>(number - 1) / static_cast<double>(epochs);
  switch (schedule) {
    case Schedule::constant:
      break;
    case Schedule::step:
      return over < 0.5 ? 1 : over < 0.75 ? 0.1 : 0.01;
    case Schedule::cosine:
      return (1 + std::cos(std::numbers::pi * over)) / 2;
  }
  return 1;
}

#define FCAM_INSTANTIATE(T)                                                          \
  template Plan<T> constant_plan(LossFunction<T>, std::optional<Inference>, double); \
  template Plan<T> named_plan(const NamedLoss&, const PlanOptions&);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
