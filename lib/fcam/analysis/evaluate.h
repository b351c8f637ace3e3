// A model on a whole set of mosaics.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "fcam/analysis/metrics.h"
#include "fcam/analysis/shards.h"
#include "fcam/attention/inference.h"
#include "fcam/attention/losses.h"

namespace fcam {

/// Attention, scores and loss of one batch, gathered from its shards in the order of the mosaics.
template <class T>
class BatchOutcome {
 public:
  /// Room for `batch` mosaics of m patches and C classes, which are inferred by `rule`; none: only losses are gathered.
  void resize(std::size_t batch, std::size_t m, std::size_t classes, std::optional<Inference> rule);
  /// Takes over one shard after the backward sweep, where there is one: its inference, its mean loss, how often it has
  /// called g, and the gradient of its scores f. Shards may come from several threads.
  void take(Shard<T>& shard, double mean_loss);
  /// Adds everything to `sum`, mosaic by mosaic.
  void add_to(MetricsSum& sum) const;
  /// Mean loss over the batch; NaN or infinite if that of a shard is.
  double mean_loss() const;

  std::size_t size() const { return label_.size(); }
  int label(std::size_t b) const { return label_[b]; }
  int z(std::size_t b) const { return z_[b]; }
  std::span<const T> a(std::size_t b) const { return {a_.data() + b * m_, m_}; }
  std::span<const T> s(std::size_t b) const { return {s_.data() + b * classes_, classes_}; }
  /// Whether there was a backward sweep that reached the scores f of all mosaics, and the gradient of a mosaic's loss
  /// in its scores, (m).
  bool has_gradient() const;
  std::span<const T> focus_gradient(std::size_t b) const { return {focus_gradient_.data() + b * m_, m_}; }

 private:
  void take_inference(Shard<T>& shard);

  std::size_t m_ = 0, classes_ = 0;
  std::optional<Inference> rule_;
  Buffer<T> a_, s_, focus_gradient_;
  std::vector<int> label_, z_;
  std::vector<double> shard_loss_;
  std::vector<std::size_t> shard_size_;
  std::vector<char> shard_gradient_;  // whether there is one
  std::vector<typename Graph<T>::Calls> shard_calls_;
  std::vector<Outcome<T>> shard_outcome_;
};

struct EvaluateOptions {
  std::optional<Inference> inference = Inference::marginal;  ///< rule of the metrics; none: the loss is the only one
  std::size_t bins = 5;                                      ///< of the heat map
  std::size_t batch = 256;  ///< mosaics at a time; the numbers do not depend on it beyond rounding
};

/// Metrics of a model on all mosaics, the loss among them. `visit(first, outcome)` sees every batch in order, `first`
/// being the index of its first mosaic; an exception of it ends the evaluation. Throws UsageError if model and mosaics
/// do not fit.
template <class T>
Metrics evaluate(const Model<T>& model, const Mosaics& mosaics, const LossFunction<T>& loss,
                 const EvaluateOptions& options, Workers& workers,
                 const std::function<void(std::size_t first, const BatchOutcome<T>&)>& visit = nullptr);

}  // namespace fcam
