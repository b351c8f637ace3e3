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
  require(std::isfinite(options.weight_decay) && options.weight_decay >= 0, "weight decay", "a finite number from 0 up",
          shortest(options.weight_decay));
  require(!std::isnan(options.stop_loss), "stop loss", "a number", shortest(options.stop_loss));
  if (options.threads == 0) options.threads = available_threads();
  return options;
}

OptimizerOptions optimizer_options(const TrainerOptions& options) {
  return {.kind = options.optimizer,
          .learning_rate = options.learning_rate,
          .momentum = options.momentum,
          .weight_decay = options.weight_decay};
}

}  // namespace

template <class T>
Trainer<T>::Trainer(Model<T>& model, std::type_identity_t<LossFunction<T>> loss, const TrainerOptions& options)
    : Trainer(model, constant_plan<T>(std::move(loss), options.inference, options.learning_rate), options) {}

template <class T>
Trainer<T>::Trainer(Model<T>& model, std::type_identity_t<Plan<T>> plan, const TrainerOptions& options)
    : model_(&model),
      plan_(std::move(plan)),
      options_(checked(options)),
      workers_(options_.threads),
      shards_(model, workers_),
      focus_optimizer_(model.focus.weights().size(), optimizer_options(options_)),
      classify_optimizer_(model.classify.weights().size(), optimizer_options(options_)) {
  require_images(options_.augmentation, model.patch_shape());
  choose_phase();
}

template <class T>
Trainer<T>::~Trainer() = default;

template <class T>
void Trainer<T>::set_state(TrainerState<T> state) {
  state_ = std::move(state);
  choose_phase();
}

template <class T>
void Trainer<T>::choose_phase() {
  phase_ = plan_.phase(state_.focus);
  const double rate = phase_.learning_rate * schedule_factor(options_.schedule, state_.epochs + 1, options_.epochs);
  for (Optimizer<T>* optimizer : {&focus_optimizer_, &classify_optimizer_}) {
    optimizer->set_learning_rate(rate);
    if (phase_.anew && state_.mosaics == 0) optimizer->forget();
  }
}

template <class T>
void Trainer<T>::run_shards(const Mosaics& mosaics, std::span<const std::size_t> indices) {
  require_fit(*model_, mosaics);
  outcome_.resize(indices.size(), mosaics.patches(), mosaics.classes(), phase_.inference);
  while (shard_gradients_.size() < std::min(Shards<T>::count, indices.size())) shard_gradients_.emplace_back(*model_);
  const LoadOptions load{.augmentation = options_.augmentation,
                         .draw_seed = Random(options_.seed, "epoch", state_.epochs + 1).bits()};
  shards_.run(mosaics, indices, load, [&](Shard<T>& shard) {
    ModelGradient<T>& gradient = shard_gradients_[shard.number];
    gradient.clear();
    shard.graph.clear(&gradient);
    const Var<T> loss = phase_.loss(shard.graph, shard.batch);
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

// Of the weights and of what the optimisers remember of them.
template <class T>
bool Trainer<T>::has_finite_weights() const {
  const auto finite = [](const Buffer<T>& values) {
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
  };
  const auto finite_averages = [&](const Optimizer<T>& optimizer) {
    const auto& averages = optimizer.averages();
    return std::all_of(averages.begin(), averages.end(), [&](const auto& average) { return finite(average.values); });
  };
  return finite(model_->focus.weights()) && finite(model_->classify.weights()) && finite_averages(focus_optimizer_) &&
         finite_averages(classify_optimizer_);
}

// Steps through what is left of the epoch; false where a callback stopped it.
template <class T>
bool Trainer<T>::train_epoch(const Mosaics& train) {
  const std::string name = "epoch " + std::to_string(state_.epochs + 1);
  const auto diverged = [&](const std::string& place, const std::string& found) {
    return DivergedError(name + place + ": expected a finite loss and finite weights, found " + found +
                         "; a smaller learning rate may help");
  };
  const Permutation order(train.count(), options_.seed, "order", state_.epochs + 1);
  std::vector<std::size_t> indices;
  while (state_.mosaics < train.count()) {
    indices.resize(std::min(options_.batch, train.count() - state_.mosaics));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = order(state_.mosaics + i);
    const double loss = step(train, indices);
    if (!std::isfinite(loss)) {
      throw diverged(", batch " + std::to_string(state_.mosaics / options_.batch + 1), "loss " + shortest(loss));
    }
    outcome_.add_to(state_.sum);
    state_.mosaics += indices.size();
    const bool stops = on_step_ && !on_step_(state_.mosaics, loss);
    // Where a checkpoint may be made.
    if ((stops || state_.mosaics == train.count()) && !has_finite_weights()) {
      throw diverged(", batch " + std::to_string((state_.mosaics - 1) / options_.batch + 1), "weights that are not");
    }
    if (stops) return false;
  }
  return true;
}

// Fills in the test metrics of an epoch; false where a callback stopped it.
template <class T>
bool Trainer<T>::test_epoch(const Mosaics& test, Epoch& epoch) {
  struct Stopped {};
  try {
    epoch.test =
        evaluate<T>(*model_, test, phase_.test_loss, {.inference = phase_.test_inference, .batch = options_.batch},
                    workers_, [&](std::size_t first, const BatchOutcome<T>& batch) {
                      if (on_test_ && !on_test_(first + batch.size())) throw Stopped();
                    });
  } catch (const Stopped&) {
    return false;
  }
  if (std::isfinite(epoch.test->loss)) return true;
  throw DivergedError("epoch " + std::to_string(epoch.number) + ", test mosaics: expected a finite loss, found " +
                      shortest(epoch.test->loss) + "; a smaller learning rate may help");
}

template <class T>
void Trainer<T>::judge(double loss) {
  auto& best = state_.best;
  if (best.epoch > 0 && loss >= best.loss) {
    ++best.since;
    return;
  }
  best = {
      .epoch = state_.epochs, .loss = loss, .focus = model_->focus.weights(), .classify = model_->classify.weights()};
}

template <class T>
Ending Trainer<T>::ending() const {
  if (state_.mosaics > 0) return Ending::none;
  if (state_.epochs >= options_.epochs) return Ending::epochs;
  if (state_.epochs > 0 && state_.loss <= options_.stop_loss) return Ending::stop_loss;
  if (options_.patience > 0 && state_.best.since >= options_.patience) return Ending::patience;
  return Ending::none;
}

template <class T>
void Trainer<T>::use_best() {
  if (state_.best.epoch == 0) return;
  model_->focus.weights() = state_.best.focus;
  model_->classify.weights() = state_.best.classify;
}

template <class T>
bool Trainer<T>::run(const Mosaics& train, const Mosaics* test, const EpochCallback& callback) {
  require_fit(*model_, train);
  if (test != nullptr) require_fit(*model_, *test);
  if (state_.mosaics > train.count()) {
    throw UsageError("expected the training mosaics of which " + std::to_string(state_.mosaics) +
                     " are done in this epoch, found " + std::to_string(train.count()));
  }
  const bool tests = test != nullptr && options_.eval_every > 0;
  while (ending() == Ending::none) {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return state_.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Epoch epoch;
    epoch.number = state_.epochs + 1;
    bool whole = train_epoch(train);
    if (whole) {
      epoch.train = state_.sum.result();
      const bool last = epoch.number >= options_.epochs || epoch.train.loss <= options_.stop_loss;
      if (tests && (last || epoch.number % options_.eval_every == 0)) whole = test_epoch(*test, epoch);
    }
    if (!whole) {
      state_.seconds = seconds();
      return false;
    }
    epoch.seconds = seconds();
    state_.epochs = epoch.number;
    state_.loss = epoch.train.loss;
    state_.focus.push_back({epoch.train.focus_gradient, epoch.train.focus_entropy});
    state_.mosaics = 0;
    state_.sum = MetricsSum();
    state_.seconds = 0;
    // Not the test that only the end brings: a run that goes on later has none there.
    if (options_.patience > 0 && (!tests || epoch.number % options_.eval_every == 0)) {
      judge(tests ? epoch.test->loss : epoch.train.loss);
    }
    choose_phase();
    if (callback && !callback(epoch)) return false;
  }
  return true;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace fcam
