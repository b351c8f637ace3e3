// Stochastic gradient training of an attention model on mosaics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fcam/analysis/evaluate.h"
#include "fcam/nn/optimizer.h"
#include "fcam/training/log.h"

namespace fcam {

struct TrainerOptions {
  std::size_t epochs = 100;
  std::size_t batch = 256;  ///< mosaics a step; the last step of an epoch takes what is left
  double learning_rate = 0.05;
  double momentum = 0.9;
  OptimizerOptions::Kind optimizer = OptimizerOptions::Kind::sgd;
  std::optional<Inference> inference = Inference::marginal;  ///< rule of the metrics; none: the loss is the only one
  std::uint64_t seed = 1;                                    ///< of the order of the mosaics
  std::size_t eval_every = 1;  ///< epochs between evaluations of the test mosaics, after the last always; 0: never
  int threads = 0;             ///< 0: available_threads(); results do not depend on it
};

/// Trains a model. A step cuts its batch into shards that threads work on; their gradients are added in a fixed order,
/// so that the weights are the same bits for every number of threads. Once every
/// thread has worked on a full shard, a step allocates nothing.
template <class T = float>
class Trainer {
 public:
  /// The model must outlive the trainer, whose steps change it. Throws UsageError for options out of range.
  Trainer(Model<T>& model, std::type_identity_t<LossFunction<T>> loss, const TrainerOptions& options = {});
  ~Trainer();

  /// Called after each epoch; false stops the training.
  using EpochCallback = std::function<bool(const Epoch&)>;
  /// Called after each step with the mosaics of the epoch done so far and the loss of the step; false stops at once,
  /// leaving the epoch unfinished.
  using StepCallback = std::function<bool(std::size_t done, double loss)>;
  void on_step(StepCallback callback) { on_step_ = std::move(callback); }

  /// Trains from the epoch after epochs_done() to the last. `test` may be null. The train metrics of an epoch are those
  /// of its steps: each mosaic as it was seen just before the step that learnt from it. Throws DivergedError at the
  /// first loss, or at an epoch whose weights or test loss are not finite, naming it; the epoch is then not reported.
  /// Returns true unless a callback stopped it.
  bool run(const Mosaics& train, const Mosaics* test, const EpochCallback& callback);
  /// The same without test mosaics, and with a callback that may return nothing.
  template <class Callback>
  bool run(const Mosaics& train, Callback&& callback) {
    return run(train, nullptr, EpochCallback([&](const Epoch& epoch) {
                 if constexpr (std::is_void_v<std::invoke_result_t<Callback&, const Epoch&>>) {
                   callback(epoch);
                   return true;
                 } else {
                   return callback(epoch);
                 }
               }));
  }

  /// One step on the mosaics with these indices, at least one. Returns their loss before it; where that is not finite,
  /// nothing has changed. Throws UsageError if the mosaics do not fit the model, or the loss is no single number.
  double step(const Mosaics& mosaics, std::span<const std::size_t> indices);
  /// Attention and scores of the mosaics of the last step.
  const BatchOutcome<T>& outcome() const { return outcome_; }
  /// The gradient of the loss on these mosaics, added over the shards; changes no weight.
  ModelGradient<T> gradient(const Mosaics& mosaics, std::span<const std::size_t> indices);

  const TrainerOptions& options() const { return options_; }
  const Model<T>& model() const { return *model_; }
  Model<T>& model() { return *model_; }
  Workers& workers() { return workers_; }

  /// From now on adds to `profile` where the time of steps goes: layers by the names of their weights, "data" for
  /// making batches, "optimizer". Seconds are means over the threads. Null: nothing is measured, at no cost.
  void set_profile(Profile* profile) {
    profile_ = profile;
    shards_.set_profiling(profile != nullptr);
  }

  /// State beyond the weights, for checkpoints: finished epochs, and the optimisers of f and g.
  std::size_t epochs_done() const { return epochs_done_; }
  void set_epochs_done(std::size_t epochs) { epochs_done_ = epochs; }
  Optimizer<T>& focus_optimizer() { return focus_optimizer_; }
  Optimizer<T>& classify_optimizer() { return classify_optimizer_; }

 private:
  void run_shards(const Mosaics& mosaics, std::span<const std::size_t> indices);
  bool has_finite_weights() const;
  template <class Use>
  void add_shards(Buffer<T> ModelGradient<T>::*part, std::size_t used, Use&& use);

  Model<T>* model_;
  LossFunction<T> loss_;
  TrainerOptions options_;
  Workers workers_;
  Shards<T> shards_;
  std::vector<ModelGradient<T>> shard_gradients_;
  BatchOutcome<T> outcome_;
  Optimizer<T> focus_optimizer_, classify_optimizer_;
  std::size_t epochs_done_ = 0;
  StepCallback on_step_;
  Profile* profile_ = nullptr;
};

}  // namespace fcam
