#include "fcam/training/plan.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "fcam/training/checkpoint.h"
#include "support/temporary_folder.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// Everything that trains, each with choices that are not the usual ones.
struct Choice {
  std::string loss;
  PlanOptions options;
};
const std::vector<Choice>& choices() {
  static const std::vector<Choice> all{
      {"lv-em", {}},
      {"lv-topk", {.loss = {.top = 2}}},
      {"ha-sampled", {}},
      {"ha-sampled", {.loss = {.samples = 3, .reward = Reward::probability}}},
      {"hybrid", {.switch_epoch = 1}},
      {"hybrid", {.switch_epoch = 1, .blend = 1, .sampled = true}},
      {"hybrid", {}},
  };
  return all;
}

struct Planned {
  Planned(const Choice& choice, TrainerOptions options)
      : model(shapes_model()), trainer(model, named_plan<float>(find_loss(choice.loss), choice.options), options) {}
  Model<float> model;
  Trainer<float> trainer;
};

TrainerOptions three_epochs(int threads) {
  return {.epochs = 3, .batch = 16, .seed = 5, .augmentation = {.flip = true, .crop = true}, .threads = threads};
}

std::vector<double> rates(const PlanOptions& options, std::size_t epochs) {
  const Plan<double> plan = named_plan<double>(find_loss("hybrid"), options);
  std::vector<EpochFocus> done;
  std::vector<double> result;
  for (std::size_t i = 0; i < epochs; ++i) {
    result.push_back(plan.phase(done).learning_rate);
    done.push_back({1, 1});
  }
  return result;
}

}  // namespace

TEST_CASE("every named loss trains to the same bits for every number of threads", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  for (const Choice& choice : choices()) {
    CAPTURE(choice.loss);
    Planned one(choice, three_epochs(1));
    const Model<float> before = one.model;
    one.trainer.run(mosaics, nullptr, nullptr);
    CHECK_FALSE(same_bits(one.model.focus.weights(), before.focus.weights()));
    for (const int threads : {2, 3}) {
      Planned more(choice, three_epochs(threads));
      more.trainer.run(mosaics, nullptr, nullptr);
      CHECK(same_bits(one.model, more.model));
    }
  }
}

TEST_CASE("every named loss, stopped at any step, goes on to the same bits", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);  // 3 steps an epoch
  for (const Choice& choice : choices()) {
    CAPTURE(choice.loss, choice.options.blend);
    const TemporaryFolder folder;
    Planned whole(choice, three_epochs(1));
    whole.trainer.run(mosaics, nullptr, nullptr);
    for (std::size_t steps = 1; steps < 9; ++steps) {
      CAPTURE(steps);
      Planned first(choice, three_epochs(2)), second(choice, three_epochs(2));
      std::size_t done = 0;
      first.trainer.on_step([&](std::size_t, double) { return ++done < steps; });
      first.trainer.run(mosaics, nullptr, nullptr);
      save_checkpoint(folder.file("c"), first.trainer);
      load_checkpoint(folder.file("c"), second.trainer);
      second.trainer.run(mosaics, nullptr, nullptr);
      CHECK(same_bits(whole.model, second.model));
    }
  }
}

TEST_CASE("draws of a loss and changes of images are others in the next epoch and for another seed", "[training]") {
  const Mosaics mosaics = shapes_mosaics(16);
  const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto gradient = [&](std::uint64_t seed, std::size_t epoch, const Choice& choice, Augmentation augmentation) {
    Planned run(choice, {.batch = 16, .seed = seed, .augmentation = augmentation, .threads = 1});
    TrainerState<float> state;
    state.epochs = epoch;
    run.trainer.set_state(state);
    return run.trainer.gradient(mosaics, all).classify;
  };
  const Choice sampled{"ha-sampled", {}}, sum{"lv", {}};
  const Augmentation none, flip{.flip = true};
  for (const auto& [choice, augmentation] : {std::pair(sampled, none), std::pair(sum, flip)}) {
    const auto first = gradient(1, 0, choice, augmentation);
    CHECK(same_bits(first, gradient(1, 0, choice, augmentation)));
    CHECK_FALSE(same_bits(first, gradient(1, 1, choice, augmentation)));
    CHECK_FALSE(same_bits(first, gradient(2, 0, choice, augmentation)));
  }
  CHECK(same_bits(gradient(1, 0, sum, none), gradient(2, 1, sum, none)));
}

TEST_CASE("g is called as often as each loss says", "[training]") {
  const Mosaics mosaics = shapes_mosaics(32);
  const double m = static_cast<double>(mosaics.patches());
  // The metrics of hard attention ask g for the chosen patch once more where not all patches have been seen.
  const std::vector<std::tuple<Choice, double, double>> expected{
      {{"sa", {}}, 1, 1},
      {{"ha", {}}, m, m},
      {{"lv", {}}, m, m},
      {{"lv-em", {}}, m, m},
      {{"ha-sampled", {.loss = {.samples = 2}}}, 2 + 1, 2},
      {{"lv-topk", {.loss = {.top = 1}}}, 2 + 1, 2},
  };
  for (const auto& [choice, forward, backward] : expected) {
    CAPTURE(choice.loss);
    Planned run(choice, {.epochs = 1, .batch = 12, .threads = 2});
    Metrics metrics;
    run.trainer.run(mosaics, [&](const Epoch& epoch) { metrics = epoch.train; });
    CHECK(metrics.classify_forward == forward);
    CHECK(metrics.classify_backward == backward);
  }
}

TEST_CASE("hybrid: soft attention, a blend, then hard attention, each with its learning rate", "[training]") {
  CHECK(rates({.switch_epoch = 2}, 4) == std::vector<double>{0.05, 0.05, 0.01, 0.01});
  CHECK(rates({.switch_epoch = 0}, 2) == std::vector<double>{0.01, 0.01});
  CHECK(rates({.learning_rate = 0.2, .switch_epoch = 1, .then_learning_rate = 0.1}, 2) ==
        std::vector<double>{0.2, 0.1});
  const std::vector<double> blended = rates({.switch_epoch = 1, .blend = 1}, 3);
  CHECK(blended[0] == 0.05);
  CHECK(blended[1] == Approx(std::sqrt(0.05 * 0.01)));
  CHECK(blended[2] == 0.01);
}

TEST_CASE("a blend's loss is the weighted mean of the two", "[training]") {
  const Plan<double> plan = named_plan<double>(find_loss("hybrid"), {.switch_epoch = 0, .blend = 3});
  Model<double> model({3, 16, 16}, 3, {.focus = "mlp", .classify = "mlp"});
  const Batch<double> batch = make_batch<double>(shapes_mosaics(8), std::vector<std::size_t>{0, 3, 4, 7});
  const auto value = [&](const LossFunction<double>& loss) {
    Graph<double> graph(model);
    return loss(graph, batch).scalar();
  };
  const double soft = value(losses::soft), hard = value(losses::hard);
  REQUIRE(soft != Approx(hard));
  std::vector<EpochFocus> done;
  for (const double weight : {0.25, 0.5, 0.75, 1.0}) {
    const Phase<double> phase = plan.phase(done);
    CHECK(value(phase.loss) == Approx((1 - weight) * soft + weight * hard));
    CHECK(value(phase.test_loss) == Approx((1 - weight) * soft + weight * hard));
    CHECK(phase.anew == done.empty());
    done.push_back({1, 1});
  }
}

TEST_CASE("at the switch the optimisers begin anew", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  Planned run({"hybrid", {.switch_epoch = 2}}, {.epochs = 4, .batch = 10, .threads = 1});
  std::vector<std::uint64_t> steps;
  run.trainer.run(mosaics, [&](const Epoch&) { steps.push_back(run.trainer.focus_optimizer().steps()); });
  CHECK(steps ==
        std::vector<std::uint64_t>{4, 0, 4, 8});  // the callback sees the state that the next epoch begins with
}

std::vector<EpochFocus> with_gradients(const std::vector<double>& gradients) {
  std::vector<EpochFocus> epochs;
  for (const double gradient : gradients) epochs.push_back({gradient, 1});
  return epochs;
}

// Epochs under a steady pull: `flat` of them with an entropy of 1.6, then down to `floor` by a factor an epoch.
std::vector<EpochFocus> sharpening(std::size_t flat, double factor, double floor, std::size_t count) {
  std::vector<EpochFocus> epochs(flat, EpochFocus{1, 1.6});
  while (epochs.size() < count) {
    epochs.push_back({1, std::max(floor, factor * (epochs.empty() ? 1.6 : epochs.back().entropy))});
  }
  return epochs;
}

TEST_CASE("soft attention has faded where its pull has come down to half of its largest so far", "[training]") {
  CHECK_FALSE(faded({}));
  CHECK_FALSE(faded(with_gradients({1, 2, 3, 2})));
  CHECK(faded(with_gradients({1, 4, 3, 2, 5, 1})) == 4);
  CHECK(faded(with_gradients({0, 1})) == 1);  // nothing to wait for
  const double unknown = std::nan("");
  CHECK_FALSE(faded(std::vector<EpochFocus>(20, {unknown, unknown})));
}

TEST_CASE("soft attention has faded where the focus has sharpened and sharpens no more", "[training]") {
  CHECK_FALSE(faded(sharpening(50, 1, 0, 50)));     // has not begun
  CHECK_FALSE(faded(sharpening(0, 0.99, 0, 60)));   // 5 percent less every five epochs
  CHECK(faded(sharpening(0, 0.995, 0, 60)) == 25);  // 2.5 percent less: once 0.995^(n - 3) is at most 0.9
  // 1.6 six times, then 1.28, 1.024, 0.8192, 0.8, 0.8, ...: 0.8 is 0.943 of the mean of epochs 8 to 12, and 0.995 of
  // that of epochs 9 to 13.
  const std::vector<EpochFocus> epochs = sharpening(6, 0.8, 0.8, 30);
  CHECK(faded(epochs) == 18);
  CHECK_FALSE(faded(std::span(epochs).first(17)));
}

TEST_CASE("hybrid switches by itself once soft attention has faded", "[training]") {
  const Plan<double> plan = named_plan<double>(find_loss("hybrid"));
  CHECK(plan.phase(with_gradients({1, 4, 3})).inference == Inference::soft);
  const Phase<double> phase = plan.phase(with_gradients({1, 4, 3, 2}));
  CHECK(phase.inference == Inference::hard);
  CHECK(phase.anew);
  CHECK_FALSE(plan.phase(with_gradients({1, 4, 3, 2, 9})).anew);
}

TEST_CASE("learning rate schedules", "[training]") {
  for (const std::size_t number : {1, 7, 10}) CHECK(schedule_factor(Schedule::constant, number, 10) == 1);
  CHECK(schedule_factor(Schedule::step, 5, 10) == 1);
  CHECK(schedule_factor(Schedule::step, 6, 10) == 0.1);
  CHECK(schedule_factor(Schedule::step, 9, 10) == 0.01);
  CHECK(schedule_factor(Schedule::cosine, 1, 10) == 1);
  CHECK(schedule_factor(Schedule::cosine, 6, 10) == Approx(0.5));
  CHECK(schedule_factor(Schedule::cosine, 10, 10) == Approx((1 + std::cos(0.9 * 3.14159265358979)) / 2));
}

TEST_CASE("a trainer follows the schedule of its learning rate", "[training]") {
  Planned run({"lv", {.learning_rate = 0.4}}, {.epochs = 4, .batch = 10, .schedule = Schedule::step, .threads = 1});
  std::vector<double> seen;
  run.trainer.on_step([&](std::size_t, double) {
    seen.push_back(run.trainer.focus_optimizer().options().learning_rate);
    return true;
  });
  run.trainer.run(shapes_mosaics(10), nullptr, nullptr);
  CHECK(seen == std::vector<double>{0.4, 0.4, 0.4 * 0.1, 0.4 * 0.01});
}

TEST_CASE("the incentive of a running model is minus the derivative of the loss by the attention on z", "[training]") {
  const Mosaics mosaics = shapes_mosaics(24);
  Model<double> model({3, 16, 16}, 3, {.focus = "mlp", .classify = "mlp"});
  const Batch<double> batch = make_batch<double>(mosaics, first_indices(24));
  Graph<double> graph(model);
  const Tensor<double> a = softmax(graph.focus(batch)).value();
  const Tensor<double> log_p = log_probability(graph.classify(batch), batch.label).value();
  const std::size_t m = mosaics.patches();
  // The other patches share what is left in the proportions they have.
  const auto losses_at = [&](std::size_t b, double step) {
    const auto z = static_cast<std::size_t>(batch.z[b]);
    const double focus = a(b, z) + step;
    double hard = 0, likelihood = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const double weight = j == z ? focus : a(b, j) * (1 - focus) / (1 - a(b, z));
      hard -= weight * log_p(b, j);
      likelihood += weight * std::exp(log_p(b, j));
    }
    return std::pair(hard, -std::log(likelihood));
  };
  double hard = 0, marginal = 0;
  constexpr double h = 1e-6;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const auto [hard_up, marginal_up] = losses_at(b, h);
    const auto [hard_down, marginal_down] = losses_at(b, -h);
    hard -= (hard_up - hard_down) / (2 * h) / 24;
    marginal -= (marginal_up - marginal_down) / (2 * h) / 24;
  }
  for (const auto& [loss, expected] : {std::pair("ha", hard), std::pair("lv", marginal)}) {
    Trainer<double> trainer(model, named_loss<double>(loss),
                            {.epochs = 1, .batch = 7, .learning_rate = 0, .threads = 2});
    Metrics metrics;
    trainer.run(mosaics, [&](const Epoch& epoch) { metrics = epoch.train; });
    CHECK(metrics.incentive == Approx(expected).epsilon(1e-6));
    CHECK(metrics.focus_gradient > 0);
  }
}
