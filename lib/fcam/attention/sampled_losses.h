// Losses that call g on a few patches only, drawn by the attention (docs/math.md, Losses that look at few patches).
// What they draw is a function of Batch::draw_seed and the mosaic, so that a run is the same for every number of
// threads and after a resume.
#pragma once

#include <cstddef>

#include "fcam/attention/losses.h"

namespace fcam {

/// Positions of `count` patches a mosaic drawn with the probabilities e^log_a, log_a (B, m) -> (B, count).
template <class T>
const std::vector<int>& draw_positions(Graph<T>& graph, const Batch<T>& batch, Var<T> log_a, std::size_t count);

/// Positions of the `top` patches with the most attention, best first, of equals the first, and of one patch drawn from
/// the rest in proportion to its attention; all patches where top + 1 >= m. log_a (B, m) -> positions and the logarithm
/// of the probability that each had of being there, both (B, min(top + 1, m)).
template <class T>
struct Selection {
  const std::vector<int>& positions;
  Var<T> log_probability;  ///< a constant
};
template <class T>
Selection<T> select_top(Graph<T>& graph, const Batch<T>& batch, Var<T> log_a, std::size_t top);

/// How much better each reward is than could be expected: less the mean of the other rewards of the same mosaic, or
/// with one a mosaic less the mean of those of the other mosaics of the record. Neither depends on the draw itself, so
/// that the gradient stays unbiased. rewards (B, k) -> a constant (B, k).
template <class T>
Var<T> advantage(Var<T> rewards);

namespace losses {

/// Hard attention with `samples` patches drawn from a instead of the sum over all: g learns from the drawn ones, f by
/// the score function. The value is the mean cross entropy of the drawn patches.
inline constexpr auto hard_sampled = [](auto& graph, const auto& batch, std::size_t samples, Reward reward) {
  const auto log_a = log_softmax(graph.focus(batch));                                // (B,m)
  const auto& drawn = draw_positions(graph, batch, log_a, samples);                  // (B,k)
  const auto log_p = log_probability(graph.classify_at(batch, drawn), batch.label);  // (B,k)
  const auto score = advantage(reward == Reward::probability ? exp(log_p) : log_p) * take(log_a, drawn);
  return -mean(log_p + (score - detach(score)));  // the score counts for the gradient alone
};

/// Marginal likelihood from the `top` best-focused patches and one drawn from the rest, weighted so that the estimate
/// of the likelihood sum_j a_j p_j is unbiased. g is called top + 1 times.
inline constexpr auto marginal_top = [](auto& graph, const auto& batch, std::size_t top) {
  const auto log_a = log_softmax(graph.focus(batch));                                   // (B,m)
  const auto [selected, log_q] = select_top(graph, batch, log_a, top);                  // (B,k)
  const auto log_p = log_probability(graph.classify_at(batch, selected), batch.label);  // (B,k)
  return -mean(logsumexp(take(log_a, selected) - log_q + log_p));
};

/// Marginal likelihood by expectation maximisation: responsibilities r_j = a_j p_j / sum_i a_i p_i are held, and f and
/// g are fitted to them, -sum_j r_j (log a_j + log p_j - log r_j). Value and gradient are those of `marginal`.
inline constexpr auto marginal_em = [](auto& graph, const auto& batch) {
  const auto log_joint =
      log_softmax(graph.focus(batch)) + log_probability(graph.classify(batch), batch.label);  // (B,m)
  const auto log_r = detach(log_softmax(log_joint));
  return -mean(sum(detach(exp(log_r)) * (log_joint - log_r)));
};

}  // namespace losses

}  // namespace fcam
