// Stochastic gradient training of an attention model on mosaics.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fcam/analysis/evaluate.h"
#include "fcam/nn/optimizer.h"
#include "fcam/training/log.h"
#include "fcam/training/plan.h"

namespace fcam {

struct TrainerOptions {
  std::size_t epochs = 100;
  std::size_t batch = 256;  ///< mosaics a step; the last step of an epoch takes what is left
  double learning_rate = 0.05;
  Schedule schedule = Schedule::constant;  ///< of the learning rate
  double momentum = 0.9;
  double weight_decay = 0;  ///< see OptimizerOptions
  OptimizerOptions::Kind optimizer = OptimizerOptions::Kind::sgd;
  std::optional<Inference> inference = Inference::marginal;  ///< rule of the metrics; none: the loss is the only one
  std::uint64_t seed = 1;                                    ///< of the order of the mosaics, and of what is drawn
  Augmentation augmentation = {};                            ///< of the training mosaics
  std::size_t eval_every = 1;  ///< epochs between evaluations of the test mosaics, after the last always; 0: never
  std::size_t patience = 0;    ///< judged epochs in a row without a new best that end the training; 0: none is judged
  double stop_loss = -std::numeric_limits<double>::infinity();  ///< a train loss of an epoch up to it ends the training
  int threads = 0;                                              ///< 0: available_threads(); results do not depend on it
};

/// Why a training is over.
enum class Ending { none, epochs, patience, stop_loss };

/// Where a training is, beyond the weights and the optimisers: what a checkpoint holds of it.
template <class T>
struct TrainerState {
  std::size_t epochs = 0;         ///< finished
  double loss = 0;                ///< mean train loss of the last of them
  std::vector<EpochFocus> focus;  ///< of each of them
  std::size_t mosaics = 0;        ///< done of the epoch after them; of the order that seed and number of the epoch give
  MetricsSum sum;                 ///< of these mosaics
  double seconds = 0;             ///< that they took

  /// The judged epoch of the lowest loss, where there is patience.
  struct Best {
    std::size_t epoch = 0;  ///< 0: none yet
    double loss = 0;
    std::size_t since = 0;  ///< epochs judged after it
    Buffer<T> focus, classify;
  } best;
};

/// Trains a model. A step cuts its batch into shards that threads work on; their gradients are added in a fixed order,
/// so that the weights are the same bits for every number of threads. Once every
/// thread has worked on a full shard, a step allocates nothing.
template <class T = float>
class Trainer {
 public:
  /// The model must outlive the trainer, whose steps change it. Throws UsageError for options out of range.
  Trainer(Model<T>& model, std::type_identity_t<LossFunction<T>> loss, const TrainerOptions& options = {});
  /// By a plan, which says loss, rule of the metrics and learning rate instead of the options.
  Trainer(Model<T>& model, std::type_identity_t<Plan<T>> plan, const TrainerOptions& options = {});
  ~Trainer();

  /// Called after each epoch; false stops the training.
  using EpochCallback = std::function<bool(const Epoch&)>;
  /// Called after each step with the mosaics of the epoch done so far and the loss of the step; false stops at once,
  /// within the epoch. Another run then goes on there, to the same bits as without a stop.
  using StepCallback = std::function<bool(std::size_t done, double loss)>;
  void on_step(StepCallback callback) { on_step_ = std::move(callback); }
  /// Called after each batch of test mosaics with the number of them done; false stops likewise. Another run then tests
  /// the epoch from the start.
  using TestCallback = std::function<bool(std::size_t done)>;
  void on_test(TestCallback callback) { on_test_ = std::move(callback); }

  /// Trains from where state() is until ending() is not none. `test` may be null. The train metrics of an epoch are
  /// those of its steps: each mosaic as it was seen just before the step that learnt from it. With patience an epoch is
  /// judged by its test loss where its number is a multiple of eval_every, and where no epoch is tested, by its train
  /// loss. Throws DivergedError at the first loss, or at an epoch whose weights or test loss are not finite, naming it;
  /// the epoch is then not reported. Throws UsageError where fewer mosaics are given than were done. Returns true
  /// unless a callback stopped it.
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

  /// Whether the training is over, and why.
  Ending ending() const;
  /// Gives the model the weights of the best epoch, where one was judged. The training cannot go on from them.
  void use_best();

  /// State beyond the weights, for checkpoints, and the optimisers of f and g.
  const TrainerState<T>& state() const { return state_; }
  void set_state(TrainerState<T> state);
  std::size_t epochs_done() const { return state_.epochs; }
  Optimizer<T>& focus_optimizer() { return focus_optimizer_; }
  Optimizer<T>& classify_optimizer() { return classify_optimizer_; }

 private:
  void run_shards(const Mosaics& mosaics, std::span<const std::size_t> indices);
  void choose_phase();
  bool train_epoch(const Mosaics& train);
  bool test_epoch(const Mosaics& test, Epoch& epoch);
  void judge(double loss);
  bool has_finite_weights() const;
  template <class Use>
  void add_shards(Buffer<T> ModelGradient<T>::*part, std::size_t used, Use&& use);

  Model<T>* model_;
  Plan<T> plan_;
  Phase<T> phase_;  // of the epoch after those of the state
  TrainerOptions options_;
  Workers workers_;
  Shards<T> shards_;
  std::vector<ModelGradient<T>> shard_gradients_;
  BatchOutcome<T> outcome_;
  Optimizer<T> focus_optimizer_, classify_optimizer_;
  TrainerState<T> state_;
  StepCallback on_step_;
  TestCallback on_test_;
  Profile* profile_ = nullptr;
};

}  // namespace fcam
