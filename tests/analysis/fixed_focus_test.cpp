#include "fcam/analysis/fixed_focus.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "fcam/analysis/evaluate.h"
#include "support/errors.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

template <class T>
FixedFocus measure(const Model<T>& model, const Mosaics& mosaics, const std::string& loss,
                   const FixedFocusOptions& options, int threads = 1) {
  Workers workers(threads);
  return measure_fixed_focus(model, mosaics, find_loss(loss), options, workers);
}

// The loss alone, by the way that evaluates any loss.
double loss_at(const Model<double>& model, const Mosaics& mosaics, const std::string& loss, double alpha) {
  Workers workers(1);
  return evaluate<double>(model, mosaics, with_fixed_focus(named_loss<double>(loss), alpha), {.inference = {}}, workers)
      .loss;
}

}  // namespace

TEST_CASE("loss, difference and derivative under fixed focus are those of the loss as a function of alpha", "[fixed]") {
  const Mosaics mosaics = shapes_mosaics(50, 4);
  const Model<double> model = shapes_model<double>("mlp");
  for (const std::string& loss : loss_names) {
    for (const double alpha : {0.0, 0.2, 0.6, 0.995, 1.0}) {
      CAPTURE(loss, alpha);
      const FixedFocus found = measure(model, mosaics, loss, {.alpha = alpha, .step = 0.01, .batch = 32});
      const auto at = [&](double a) { return loss_at(model, mosaics, loss, a); };
      CHECK(found.loss == Approx(at(alpha)).epsilon(1e-12));
      CHECK(found.difference == Approx(at(alpha) - at(std::min(alpha + 0.01, 1.0))).epsilon(1e-9).margin(1e-13));
      // Central differences inside, one-sided ones of the same order at the ends.
      const double h = 1e-5;
      const double slope = alpha == 0   ? (-3 * at(0) + 4 * at(h) - at(2 * h)) / (2 * h)
                           : alpha == 1 ? (3 * at(1) - 4 * at(1 - h) + at(1 - 2 * h)) / (2 * h)
                                        : (at(alpha + h) - at(alpha - h)) / (2 * h);
      CHECK(std::abs(found.derivative) > 1e-3);
      CHECK(found.derivative == Approx(-slope).epsilon(2e-5));
    }
  }
}

TEST_CASE("the paper's incentive is exactly zero at alpha 1, the derivative is not", "[fixed]") {
  for (const std::string& loss : loss_names) {
    CAPTURE(loss);
    const FixedFocus found = measure(shapes_model<double>("mlp"), shapes_mosaics(30), loss, {.alpha = 1});
    CHECK(found.difference == 0);
    CHECK(std::abs(found.derivative) > 1e-3);
  }
}

TEST_CASE("fixed focus in float agrees with double, difference and derivative included", "[fixed]") {
  const Mosaics mosaics = shapes_mosaics(100);
  Model<float> model = shapes_model<float>("mlp");
  Model<double> reference = shapes_model<double>("mlp");
  std::copy(model.classify.weights().begin(), model.classify.weights().end(), reference.classify.weights().begin());
  for (const std::string& loss : loss_names) {
    CAPTURE(loss);
    const FixedFocus found = measure(model, mosaics, loss, {.alpha = 0.4});
    const FixedFocus expected = measure(reference, mosaics, loss, {.alpha = 0.4});
    CHECK(found.loss == Approx(expected.loss).epsilon(1e-6));
    CHECK(found.difference == Approx(expected.difference).epsilon(1e-3).margin(1e-6));
    CHECK(found.derivative == Approx(expected.derivative).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("fixed focus is measured with the same bits for every number of workers", "[fixed]") {
  const Mosaics mosaics = shapes_mosaics(101);
  const Model<float> model = shapes_model();
  for (const std::string& loss : loss_names) {
    const FixedFocus one = measure(model, mosaics, loss, {.alpha = 0.3, .batch = 40}, 1);
    for (const int threads : {2, 3}) {
      const FixedFocus more = measure(model, mosaics, loss, {.alpha = 0.3, .batch = 40}, threads);
      CHECK(more.loss == one.loss);
      CHECK(more.difference == one.difference);
      CHECK(more.derivative == one.derivative);
    }
    const FixedFocus whole = measure(model, mosaics, loss, {.alpha = 0.3, .batch = 1000});
    CHECK(whole.loss == Approx(one.loss).epsilon(1e-6));
    CHECK(whole.derivative == Approx(one.derivative).epsilon(1e-4));
  }
}

TEST_CASE("with one patch the loss is plain cross entropy and there is no incentive", "[fixed]") {
  const Mosaics mosaics = shapes_mosaics(40, 1);
  const Model<double> model = shapes_model<double>("mlp");
  const double plain = loss_at(model, mosaics, "sa", 1);
  for (const std::string& loss : loss_names) {
    const FixedFocus found = measure(model, mosaics, loss, {.alpha = 1});
    CHECK(found.loss == Approx(plain).epsilon(1e-13));
    CHECK(found.difference == 0);
    CHECK(found.derivative == 0);
    check_error<UsageError>([&] { measure(model, mosaics, loss, {.alpha = 0.5}); }, {"alpha", "one patch", "0.5"});
  }
}

TEST_CASE("fixed focus of unknown positions, of other patches, or of numbers that are none is refused", "[fixed]") {
  const Mosaics unknown = numbered_bags(12, 3, false);
  const Model<double> model = numbered_model<double>();
  for (const std::string& loss : loss_names) {
    CAPTURE(loss);
    check_error<UsageError>([&] { measure(model, unknown, loss, {}); }, {"fixed focus", "positions"});
    check_error<UsageError>([&] { measure(model, shapes_mosaics(5), loss, {}); }, {"model", "3x16x16"});
    Model<double> broken = model;
    broken.classify.weights()[0] = std::numeric_limits<double>::quiet_NaN();
    check_error<DivergedError>([&] { measure(broken, numbered_bags(12, 3), loss, {}); }, {"finite", "nan"});
  }
}

TEST_CASE("logits of 1e4 leave loss and incentive finite and right", "[fixed]") {
  // Patches 0, 1, 2 in each of four bags; the logit of class c is w_c x.
  const Mosaics bags = Mosaics::from_bags(Images({1}, std::vector<float>{0, 1, 2, 0, 1, 2}, std::vector<int>(6), {"p"}),
                                          3, {0, 1}, {2, 0}, {"a", "b"});
  Model<double> model({1}, 2, {.focus = "linear nobias", .classify = "linear nobias"});
  model.classify.weights() = {0, 1e4};
  // Bag 0 (y = 0, z = 2): log p = (-log 2, -1e4, -2e4). Bag 1 (y = 1, z = 0): (-log 2, 0, 0) but for e^-1e4.
  const double log2 = std::log(2.0), alpha = 0.2;
  const FixedFocus hard = measure(model, bags, "ha", {.alpha = alpha});
  CHECK(hard.loss == Approx((0.4 * (log2 + 1e4) + 0.2 * 2e4 + 0.2 * log2) / 2));
  CHECK(hard.derivative == Approx((-2e4 + (log2 + 1e4) / 2 - log2) / 2));
  const FixedFocus marginal = measure(model, bags, "lv", {.alpha = alpha});
  CHECK(marginal.loss == Approx((-std::log(0.4 * 0.5) - std::log(0.2 * 0.5 + 0.8)) / 2));
  CHECK(marginal.derivative == Approx((-(0.5 / 2) / (0.4 * 0.5) + (0.5 - 1) / (0.2 * 0.5 + 0.8)) / 2));
  const FixedFocus soft = measure(model, bags, "sa", {.alpha = alpha});  // blends 0.2 2 + 0.4 1 and 0.4 (1 + 2)
  CHECK(soft.loss == Approx(0.8e4 / 2));
  CHECK(soft.derivative == Approx(-1e4 * (2 - 0.5) / 2));
}
