// The training losses, each as its equation over autodiff operations, in log space (docs/math.md). A user's own loss is
// one more such function: docs/adding-a-loss.md.
#pragma once

#include <cstddef>
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
  std::string name;                       ///< "sa", "ha", "lv" ...
  std::string title;                      ///< "soft attention" ...
  Inference inference = Inference::soft;  ///< the rule that goes with it
  double learning_rate = 0.05;            ///< that suits it on images with SGD and momentum 0.9
  /// Where it looks at few patches: the rule that asks g for one more at most, for the metrics of training steps.
  Inference step_inference = inference;
  /// Where its value is an estimate, or what it trains with changes: the loss of the paper that it stands for.
  std::string exact = name;
};

/// The paper's three losses, in its order.
const std::vector<NamedLoss>& paper_losses();

/// All losses that exist, the paper's first: those that look at few patches (sampled_losses.h), and "hybrid", which is
/// no function but a plan to train by (training/plan.h).
const std::vector<NamedLoss>& named_losses();

/// The loss of that name, in any case. Throws UsageError with the names that exist.
const NamedLoss& find_loss(std::string_view name, const std::vector<NamedLoss>& among = named_losses());

/// What f is rewarded for in sampled hard attention.
enum class Reward {
  log_probability,  ///< log p_y: the gradient is that of hard attention
  probability,      ///< p_y: that of -sum_j a_j p_j, bounded
};

/// The numbers of single losses.
struct LossOptions {
  std::size_t samples = 1;  ///< "ha-sampled": patches drawn a mosaic
  std::size_t top = 1;      ///< "lv-topk": best-focused patches beside the drawn one
  Reward reward = Reward::log_probability;
};

/// The function of a named loss. Throws UsageError for "hybrid" and for a name that none has.
template <class T>
LossFunction<T> loss_function(const NamedLoss& loss, const LossOptions& options = {});

}  // namespace fcam
