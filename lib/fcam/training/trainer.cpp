#include "fcam/training/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "fcam/base/error.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"

namespace fcam {
namespace {

// Fixed ranges of weights, the unit of work of adding gradients: small enough for the first-level cache.
constexpr std::size_t range_size = 2048;

void require(bool met, const char* option, const std::string& expected, const std::string& found) {
  if (!met) throw UsageError(std::string(option) + ": expected " + expected + ", found " + found);
}

TrainerOptions checked(TrainerOptions options) {
  require(options.epochs >= 1, "epochs", "at least 1", std::to_string(options.epochs));
  require(options.batch >= 1, "batch", "at least 1", std::to_string(options.batch));
  require(std::isfinite(options.learning_rate) && options.learning_rate >= 0, "learning rate",
          "a finite number from 0 up", shortest(options.learning_rate));
  require(options.momentum >= 0 && options.momentum < 1, "momentum", "a number in [0, 1)", shortest(options.momentum));
  require(options.threads >= 0, "threads", "at least 1", std::to_string(options.threads));
  if (options.threads == 0) options.threads = available_threads();
  return options;
}

OptimizerOptions optimizer_options(const TrainerOptions& options) {
  return {.kind = options.optimizer, .learning_rate = options.learning_rate, .momentum = options.momentum};
}

}  // namespace

template <class T>
Trainer<T>::Trainer(Model<T>& model, std::type_identity_t<LossFunction<T>> loss, const TrainerOptions& options)
    : model_(&model),
      loss_(std::move(loss)),
      options_(checked(options)),
      workers_(options_.threads),
      shards_(model, workers_),
      focus_optimizer_(model.focus.weights().size(), optimizer_options(options_)),
      classify_optimizer_(model.classify.weights().size(), optimizer_options(options_)) {}

template <class T>
Trainer<T>::~Trainer() = default;

template <class T>
void Trainer<T>::run_shards(const Mosaics& mosaics, std::span<const std::size_t> indices) {
  require_fit(*model_, mosaics);
  outcome_.resize(indices.size(), mosaics.patches(), mosaics.classes(), options_.inference);
  while (shard_gradients_.size() < std::min(Shards<T>::count, indices.size())) shard_gradients_.emplace_back(*model_);
  shards_.run(mosaics, indices, [&](Shard<T>& shard) {
    ModelGradient<T>& gradient = shard_gradients_[shard.number];
    gradient.clear();
    shard.graph.clear(&gradient);
    const Var<T> loss = loss_(shard.graph, shard.batch);
    if (loss.value().size() != 1) {
      throw UsageError("loss: expected one number, such as a mean over the mosaics, found a value of shape " +
                       to_string(shape_of(loss.value())));
    }
    shard.graph.backward(loss, static_cast<T>(shard.batch.size()) / static_cast<T>(indices.size()));
    outcome_.take(shard, loss.scalar());
  });
  if (profile_ != nullptr) shards_.take_profile(*profile_);
}

// Calls use(first, count, sum) for each range of the weights of one network, `sum` being the gradient of the batch
// there.
template <class T>
template <class Use>
void Trainer<T>::add_shards(Buffer<T> ModelGradient<T>::*part, std::size_t used, Use&& use) {
  const std::size_t size = (shard_gradients_[0].*part).size();
  workers_.run((size + range_size - 1) / range_size, [&](std::size_t range, int) {
    const std::size_t first = range * range_size, count = std::min(range_size, size - first);
    std::array<T, range_size> sum;
    std::copy_n((shard_gradients_[0].*part).data() + first, count, sum.data());
    for (std::size_t shard = 1; shard < used; ++shard) {
      const T* gradient = (shard_gradients_[shard].*part).data() + first;
      for (std::size_t i = 0; i < count; ++i) sum[i] += gradient[i];
    }
    use(first, count, sum.data());
  });
}

template <class T>
double Trainer<T>::step(const Mosaics& mosaics, std::span<const std::size_t> indices) {
  run_shards(mosaics, indices);
  const double loss = outcome_.mean_loss();
  if (!std::isfinite(loss)) return loss;  // the weights stay as they were
  const ProfileTimer timer(profile_, "optimizer");
  const std::size_t used = std::min(Shards<T>::count, indices.size());
  const auto update = [&](Buffer<T> ModelGradient<T>::*part, Network<T>& network, Optimizer<T>& optimizer) {
    optimizer.begin_step();
    add_shards(part, used, [&](std::size_t first, std::size_t count, const T* gradient) {
      optimizer.update(first, count, network.weights().data() + first, gradient);
    });
  };
  update(&ModelGradient<T>::focus, model_->focus, focus_optimizer_);
  update(&ModelGradient<T>::classify, model_->classify, classify_optimizer_);
  return loss;
}

template <class T>
ModelGradient<T> Trainer<T>::gradient(const Mosaics& mosaics, std::span<const std::size_t> indices) {
  run_shards(mosaics, indices);
  ModelGradient<T> total(*model_);
  for (const auto part : {&ModelGradient<T>::focus, &ModelGradient<T>::classify}) {
    add_shards(part, std::min(Shards<T>::count, indices.size()),
               [&](std::size_t first, std::size_t count, const T* sum) {
                 std::copy_n(sum, count, (total.*part).data() + first);
               });
  }
  return total;
}

template <class T>
bool Trainer<T>::has_finite_weights() const {
  const auto finite = [](const Buffer<T>& weights) {
    return std::all_of(weights.begin(), weights.end(), [](T weight) { return std::isfinite(weight); });
  };
  return finite(model_->focus.weights()) && finite(model_->classify.weights());
}

template <class T>
bool Trainer<T>::run(const Mosaics& train, const Mosaics* test, const EpochCallback& callback) {
  require_fit(*model_, train);
  if (test != nullptr) require_fit(*model_, *test);
  std::vector<std::size_t> indices;
  while (epochs_done_ < options_.epochs) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t number = epochs_done_ + 1;
    const Permutation order(train.count(), options_.seed, "order", number);
    MetricsSum sum;
    for (std::size_t first = 0; first < train.count(); first += options_.batch) {
      indices.resize(std::min(options_.batch, train.count() - first));
      for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = order(first + i);
      const double loss = step(train, indices);
      const bool ends = first + indices.size() == train.count();
      if (!std::isfinite(loss) || (ends && !has_finite_weights())) {
        throw DivergedError("epoch " + std::to_string(number) + ", step " + std::to_string(first / options_.batch + 1) +
                            ": expected a finite loss and finite weights, found " +
                            (std::isfinite(loss) ? "weights that are not" : "loss " + shortest(loss)) +
                            "; a smaller learning rate may help");
      }
      outcome_.add_to(sum);
      if (on_step_ && !on_step_(first + indices.size(), loss)) return false;
    }
    Epoch epoch{.number = number, .train = sum.result(), .test = {}, .seconds = 0};
    if (test != nullptr && options_.eval_every > 0 &&
        (number % options_.eval_every == 0 || number == options_.epochs)) {
      epoch.test =
          evaluate(*model_, *test, loss_, {.inference = options_.inference, .batch = options_.batch}, workers_);
      if (!std::isfinite(epoch.test->loss)) {
        throw DivergedError("epoch " + std::to_string(number) + ", test mosaics: expected a finite loss, found " +
                            shortest(epoch.test->loss) + "; a smaller learning rate may help");
      }
    }
    epoch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    epochs_done_ = number;
    if (callback && !callback(epoch)) return false;
  }
  return true;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace fcam
