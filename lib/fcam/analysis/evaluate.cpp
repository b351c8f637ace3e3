#include "fcam/analysis/evaluate.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace fcam {

template <class T>
void BatchOutcome<T>::resize(std::size_t batch, std::size_t m, std::size_t classes, std::optional<Inference> rule) {
  rule_ = rule;
  m_ = m;
  classes_ = classes;
  a_.resize(batch * m);
  s_.resize(batch * classes);
  label_.resize(batch);
  z_.resize(batch);
  focus_gradient_.resize(batch * m);
  shard_loss_.assign(Shards<T>::count, 0);
  shard_size_.assign(Shards<T>::count, 0);
  shard_calls_.assign(Shards<T>::count, {});
  shard_gradient_.assign(Shards<T>::count, 0);
  shard_outcome_.resize(Shards<T>::count);
}

template <class T>
void BatchOutcome<T>::take(Shard<T>& shard, double mean_loss) {
  shard_loss_[shard.number] = mean_loss;
  shard_size_[shard.number] = shard.batch.size();
  if (rule_) take_inference(shard);
  shard_calls_[shard.number] = shard.graph.classify_calls();
}

template <class T>
void BatchOutcome<T>::take_inference(Shard<T>& shard) {
  if (const auto& scores = shard.graph.scores(); scores && scores->has_gradient()) {
    // Of the mean over the batch; of the loss of each mosaic it is so many times as much.
    const T mosaics = static_cast<T>(size()), *gradient = scores->gradient().data();
    T* const to = focus_gradient_.data() + shard.first * m_;
    for (std::size_t i = 0; i < shard.batch.size() * m_; ++i) to[i] = mosaics * gradient[i];
    shard_gradient_[shard.number] = 1;
  }
  Outcome<T>& outcome = shard_outcome_[shard.number];
  infer(shard.graph, shard.batch, *rule_, outcome);
  std::copy_n(outcome.a.data(), outcome.a.size(), a_.data() + shard.first * m_);
  std::copy_n(outcome.s.data(), outcome.s.size(), s_.data() + shard.first * classes_);
  std::copy(shard.batch.label.begin(), shard.batch.label.end(),
            label_.begin() + static_cast<std::ptrdiff_t>(shard.first));
  std::copy(shard.batch.z.begin(), shard.batch.z.end(), z_.begin() + static_cast<std::ptrdiff_t>(shard.first));
}

template <class T>
void BatchOutcome<T>::add_to(MetricsSum& sum) const {
  for (std::size_t b = 0; rule_ && b < size(); ++b) sum.add(label(b), z(b), a(b), s(b));
  if (has_gradient()) {
    for (std::size_t b = 0; b < size(); ++b) sum.add_gradient<T>(z(b), a(b), focus_gradient(b));
  }
  for (std::size_t i = 0; i < shard_loss_.size(); ++i) {
    sum.add_loss(shard_loss_[i], shard_size_[i]);
    sum.add_calls(shard_calls_[i].forward, shard_calls_[i].backward);
  }
}

template <class T>
bool BatchOutcome<T>::has_gradient() const {
  for (std::size_t i = 0; i < shard_size_.size(); ++i) {
    if (shard_size_[i] > 0 && shard_gradient_[i] == 0) return false;
  }
  return rule_.has_value();
}

template <class T>
double BatchOutcome<T>::mean_loss() const {
  double total = 0;
  for (std::size_t i = 0; i < shard_loss_.size(); ++i) total += shard_loss_[i] * static_cast<double>(shard_size_[i]);
  return total / static_cast<double>(size());
}

template <class T>
Metrics evaluate(const Model<T>& model, const Mosaics& mosaics, const LossFunction<T>& loss,
                 const EvaluateOptions& options, Workers& workers,
                 const std::function<void(std::size_t, const BatchOutcome<T>&)>& visit) {
  assert(options.batch > 0);
  require_fit(model, mosaics);
  Shards<T> shards(model, workers);
  BatchOutcome<T> outcome;
  MetricsSum sum(options.bins);
  std::vector<std::size_t> indices;
  for (std::size_t first = 0; first < mosaics.count(); first += options.batch) {
    indices.resize(std::min(options.batch, mosaics.count() - first));
    std::iota(indices.begin(), indices.end(), first);
    outcome.resize(indices.size(), mosaics.patches(), mosaics.classes(), options.inference);
    shards.run(mosaics, indices, {}, [&](Shard<T>& shard) {
      shard.graph.clear();
      const double value = loss(shard.graph, shard.batch).scalar();
      outcome.take(shard, value);
    });
    outcome.add_to(sum);
    if (visit) visit(first, outcome);
  }
  return sum.result();
}

#define FCAM_INSTANTIATE(T)                                                                                            \
  template class BatchOutcome<T>;                                                                                      \
  template Metrics evaluate(const Model<T>&, const Mosaics&, const LossFunction<T>&, const EvaluateOptions&, Workers&, \
                            const std::function<void(std::size_t, const BatchOutcome<T>&)>&);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
