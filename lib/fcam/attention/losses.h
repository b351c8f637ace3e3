// The training losses, each as its equation over autodiff operations, in log space (docs/math.md). A user's own loss is
// one more such function: docs/adding-a-loss.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fcam/attention/inference.h"
#include "fcam/attention/model.h"

namespace fcam {

/// What a loss is: from what the models can do with a batch to a scalar, the mean over the mosaics.
template <class T>
using LossFunction = std::function<Var<T>(Graph<T>&, const Batch<T>&)>;

namespace losses {

/// The losses of a given attention, learnt or not: a or log a, (B, m). log_p is log softmax(g(x_j))_y, (B, m).
inline constexpr auto soft_with = [](auto& graph, const auto& batch, auto a) {
  return -mean(log_probability(graph.classify(blend(a, batch)), batch.label));  // (B,C) -> (B)
};
inline constexpr auto hard_with = [](auto a, auto log_p) { return -mean(sum(a * log_p)); };
inline constexpr auto marginal_with = [](auto log_a, auto log_p) { return -mean(logsumexp(log_a + log_p)); };

/// Soft attention: L = CE(g(sum_j a_j x_j), y).
inline constexpr auto soft = [](auto& graph, const auto& batch) {
  return soft_with(graph, batch, softmax(graph.focus(batch)));
};

/// Hard attention in expectation: L = sum_j a_j CE(g(x_j), y).
inline constexpr auto hard = [](auto& graph, const auto& batch) {
  return hard_with(softmax(graph.focus(batch)), log_probability(graph.classify(batch), batch.label));
};

/// Latent variable marginal likelihood: L = -log sum_j a_j softmax(g(x_j))_y.
inline constexpr auto marginal = [](auto& graph, const auto& batch) {
  return marginal_with(log_softmax(graph.focus(batch)), log_probability(graph.classify(batch), batch.label));
};

}  // namespace losses

/// A loss under the name that users type.
struct NamedLoss {
  std::string name;                       ///< "sa", "ha" or "lv"
  std::string title;                      ///< "soft attention" ...
  Inference inference = Inference::soft;  ///< the rule that goes with it
  double learning_rate = 0.05;            ///< that suits it on images with SGD and momentum 0.9
};

/// The losses that exist, in the paper's order.
const std::vector<NamedLoss>& named_losses();

/// The loss of that name, in any case. Throws UsageError with the names that exist.
const NamedLoss& find_loss(std::string_view name);

/// The function of a named loss.
template <class T>
LossFunction<T> loss_function(const NamedLoss& loss);

}  // namespace fcam
