// The bridge between the equations of the flow and the library's own gradients.
#include "fcam/analysis/linear_population.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "fcam/base/random.h"
#include "fcam/dynamics/integrate.h"
#include "support/errors.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr Loss losses_of_flow[] = {Loss::soft, Loss::hard, Loss::marginal};

LossFunction<double> function_of(Loss loss) { return loss_function<double>(find_loss(to_string(loss))); }

struct Descent {
  double value;
  LinearGaps direction;  // of minus the gradient
};

Descent descent_at(Model<double>& model, Loss loss, const Batch<double>& batch) {
  ModelGradient<double> gradient(model);
  Graph<double> graph(model);
  graph.clear(&gradient);
  const Var<double> value = function_of(loss)(graph, batch);
  graph.backward(value, -1);
  return {value.scalar(), gaps_of(gradient.focus, gradient.classify)};
}

}  // namespace

TEST_CASE("the gradient of the library's losses on the population is the right-hand side of the flow", "[dynamics]") {
  Random random(1, "test bridge");
  double largest_gap = 0, farthest = 0;
  for (int trial = 0; trial < 90; ++trial) {
    const Flow flow{
        .loss = losses_of_flow[trial % 3], .patches = 1 + random.below(25), .classes = 2 + random.below(25)};
    const GapState state{12 * random.uniform() - 4, 10 * random.uniform() - 4};
    CAPTURE(to_string(flow.loss), flow.patches, flow.classes, state.mu, state.nu);
    const Batch<double> batch = linear_population_batch(flow.classes, flow.patches);
    Model<double> model = make_linear_model(flow.classes);
    set_gaps(model, state.mu, state.nu);
    const Descent descent = descent_at(model, flow.loss, batch);
    const GapState rates = flow.rates(state);
    CHECK(descent.value == Approx(flow.value(state)).epsilon(1e-12).margin(1e-14));
    CHECK(descent.direction.mu == Approx(rates.mu).epsilon(1e-10).margin(1e-15));
    CHECK(descent.direction.nu == Approx(rates.nu).epsilon(1e-10).margin(1e-15));
    CHECK(descent.direction.off_shape < 1e-14);
    largest_gap =
        std::max({largest_gap, std::abs(descent.direction.mu - rates.mu), std::abs(descent.direction.nu - rates.nu)});
    farthest = std::max(farthest, std::abs(rates.mu));
  }
  CHECK(largest_gap < 1e-14);
  CHECK(farthest > 0.1);
}

TEST_CASE("background of any size along its axis leaves the gradient as it is, if its mean is zero", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const std::size_t classes = 4, patches = 3;
    Model<double> model = make_linear_model(classes);
    set_gaps(model, 1.5, 0.7);
    // Each mosaic twice, with opposite backgrounds.
    const Batch<double> plain = linear_population_batch(classes, patches);
    Batch<double> batch = plain;
    batch.x.resize({2 * classes, patches, classes + 1});
    batch.label.clear();
    for (std::size_t b = 0; b < 2 * classes; ++b) {
      const std::size_t size = patches * (classes + 1);
      std::copy_n(plain.x.data() + b / 2 * size, size, batch.x.data() + b * size);
      for (std::size_t j = 1; j < patches; ++j) {
        batch.x.data()[b * size + j * (classes + 1) + classes] = (b % 2 == 0 ? 1 : -1) * (0.3 + static_cast<double>(j));
      }
      batch.label.push_back(static_cast<int>(b / 2));
    }
    const Descent expected = descent_at(model, loss, plain), found = descent_at(model, loss, batch);
    CHECK(found.direction.mu == Approx(expected.direction.mu).epsilon(1e-13));
    CHECK(found.direction.nu == Approx(expected.direction.nu).epsilon(1e-13));
    CHECK(found.direction.off_shape < 1e-15);
    CHECK(found.value == Approx(expected.value));
  }
}

TEST_CASE("the gaps of weights are those of the nearest weights of the shape", "[dynamics]") {
  Model<double> model = make_linear_model(3);
  CHECK(model.patch_shape() == Shape{4});
  set_gaps(model, 2, -0.5);
  LinearGaps gaps = gaps_of(model);
  CHECK(gaps.mu == Approx(2));
  CHECK(gaps.nu == Approx(-0.5));
  CHECK(gaps.off_shape < 1e-15);
  model.classify.weights()[0] += 0.6;  // the logit of class 0 for e_0
  gaps = gaps_of(model);
  CHECK(gaps.mu == Approx(2 + (0.6 - 0.2) / 2));
  CHECK(gaps.off_shape > 0.3);
  set_gaps(model, 2, -0.5);
  model.focus.weights()[3] = 0.25;  // the score of the background
  CHECK(gaps_of(model).off_shape == Approx(0.25));
}

TEST_CASE("descent on the population is Euler's method on the flow", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const Flow flow{.loss = loss, .patches = 6, .classes = 5};
    const auto path =
        descend_population(function_of(loss), {.patches = 6, .classes = 5, .step = 0.5, .steps = 400, .every = 150});
    REQUIRE(path.size() == 4);
    CHECK(path[0].step == 0);
    CHECK(path[3].step == 400);
    const Trajectory euler = integrate_euler(flow, {0, 75, 150, 200}, {.dt = 0.5});
    const Trajectory exact = integrate(flow, {0, 75, 150, 200});
    for (std::size_t i = 0; i < path.size(); ++i) {
      CHECK(path[i].gaps.mu == Approx(euler[i].mu).epsilon(1e-11).margin(1e-15));
      CHECK(path[i].gaps.nu == Approx(euler[i].nu).epsilon(1e-11).margin(1e-15));
      CHECK(path[i].gaps.off_shape < 1e-12);
      CHECK(std::abs(path[i].gaps.mu - exact[i].mu) < 0.05);
    }
    CHECK(path[3].gaps.mu > 1);
  }
}

TEST_CASE("populations that do not fit into memory, and descents without a step, are refused", "[dynamics]") {
  check_error<UsageError>([] { linear_population_batch(1000, 1000); }, {"population", "10000000", "1001000000"});
  const auto descend = [](const DescentOptions& options) { descend_population(losses::hard, options); };
  check_error<UsageError>([&] { descend({.step = 0}); }, {"step", "above 0"});
  check_error<UsageError>([&] { descend({.step = std::nan("")}); }, {"step", "nan"});
  check_error<UsageError>([&] { descend({.every = 0}); }, {"every", "at least 1"});
  check_error<UsageError>([&] { descend({.classes = 1}); }, {"classes", "at least 2"});
}
