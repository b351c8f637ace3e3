#include "fcam/analysis/fixed_focus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam {
namespace {

// Mean over the mosaics of value(b, z) less the mean of value(b, j) over the other patches: what it comes to that a
// step of alpha takes attention from all the others alike.
template <class Value>
double contrast(const std::vector<int>& z, std::size_t m, Value&& value) {
  if (m == 1) return 0;
  double total = 0;
  for (std::size_t b = 0; b < z.size(); ++b) {
    const auto foreground = static_cast<std::size_t>(z[b]);
    double others = 0;
    for (std::size_t j = 0; j < m; ++j) others += j != foreground ? static_cast<double>(value(b, j)) : 0;
    total += static_cast<double>(value(b, foreground)) - others / static_cast<double>(m - 1);
  }
  return total / static_cast<double>(z.size());
}

double next_alpha(const FixedFocusOptions& options) { return std::min(options.alpha + options.step, 1.0); }

// The gradient in the attention says what a step of alpha does.
template <class T>
FixedFocus measure_soft(Graph<T>& graph, const Batch<T>& batch, const FixedFocusOptions& options) {
  const Var<T> a = fixed_attention(graph, batch, options.alpha);
  a.node().needs_gradient = true;
  const Var<T> loss = losses::soft_with(graph, batch, a);
  graph.backward(loss, static_cast<T>(batch.size()));
  const std::size_t m = a.value().shape()[1];
  const T* gradient = a.gradient().data();
  FixedFocus result{.loss = loss.scalar(), .difference = 0, .derivative = 0};
  result.derivative = contrast(batch.z, m, [&](std::size_t b, std::size_t j) { return -gradient[b * m + j]; });
  if (const double next = next_alpha(options); next != options.alpha) {
    result.difference = result.loss - losses::soft_with(graph, batch, fixed_attention(graph, batch, next)).scalar();
  }
  return result;
}

// One pass of g serves every alpha.
template <class T>
FixedFocus measure_patchwise(Graph<T>& graph, const Batch<T>& batch, bool hard, const FixedFocusOptions& options) {
  const Var<T> log_p = log_probability(graph.classify(batch), batch.label);
  const auto loss_at = [&](double alpha) -> double {
    hold_attention(graph, batch, alpha);
    const Var<T> scores = graph.focus(batch);
    return (hard ? losses::hard_with(softmax(scores), log_p) : losses::marginal_with(log_softmax(scores), log_p))
        .scalar();
  };
  const double loss_at_next = loss_at(next_alpha(options));
  FixedFocus result{.loss = loss_at(options.alpha), .difference = 0, .derivative = 0};
  result.difference = result.loss - loss_at_next;

  const std::size_t m = log_p.value().shape()[1];
  const T* values = log_p.value().data();
  if (hard) {  // L = -sum_j a_j log p_j
    result.derivative = contrast(batch.z, m, [&](std::size_t b, std::size_t j) { return values[b * m + j]; });
  } else {  // L = -log sum_j a_j p_j
    const T* log_sum = logsumexp(log_softmax(graph.focus(batch)) + log_p).value().data();
    result.derivative = contrast(batch.z, m, [&](std::size_t b, std::size_t j) {
      return std::exp(static_cast<double>(values[b * m + j]) - static_cast<double>(log_sum[b]));
    });
  }
  return result;
}

}  // namespace

template <class T>
FixedFocus measure_fixed_focus(const Model<T>& model, const Mosaics& mosaics, const NamedLoss& loss,
                               const FixedFocusOptions& options, Workers& workers) {
  require_fit(model, mosaics);
  require_alpha(options.alpha, mosaics.patches());
  Shards<T> shards(model, workers);
  std::vector<std::size_t> indices;
  FixedFocus total;
  for (std::size_t first = 0; first < mosaics.count(); first += options.batch) {
    indices.resize(std::min(options.batch, mosaics.count() - first));
    std::iota(indices.begin(), indices.end(), first);
    std::array<FixedFocus, Shards<T>::count> of_shard{};
    shards.run(mosaics, indices, {}, [&](Shard<T>& shard) {
      shard.graph.clear();
      FixedFocus mean = loss.inference == Inference::soft
                            ? measure_soft(shard.graph, shard.batch, options)
                            : measure_patchwise(shard.graph, shard.batch, loss.inference == Inference::hard, options);
      const double weight = static_cast<double>(shard.batch.size()) / static_cast<double>(mosaics.count());
      of_shard[shard.number] = {mean.loss * weight, mean.difference * weight, mean.derivative * weight};
    });
    for (const FixedFocus& part : of_shard) {
      total.loss += part.loss;
      total.difference += part.difference;
      total.derivative += part.derivative;
    }
  }
  for (const double number : {total.loss, total.difference, total.derivative}) {
    if (!std::isfinite(number)) {
      throw DivergedError("fixed focus: expected a finite loss and incentive, found " + shortest(number));
    }
  }
  return total;
}

template FixedFocus measure_fixed_focus(const Model<float>&, const Mosaics&, const NamedLoss&, const FixedFocusOptions&,
                                        Workers&);
template FixedFocus measure_fixed_focus(const Model<double>&, const Mosaics&, const NamedLoss&,
                                        const FixedFocusOptions&, Workers&);

}  // namespace fcam
