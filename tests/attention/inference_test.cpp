#include "fcam/attention/inference.h"

#include <catch2/catch.hpp>

#include "fcam/attention/losses.h"
#include "fcam/base/error.h"
#include "support/batches.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const Shape patch{1, 6, 6};

Model<double> small_model() {
  return Model<double>(patch, 3, {.focus = "conv2k3 relu fc3 relu", .classify = "conv2k3 relu fc3 relu"});
}

Outcome<double> outcome_of(const Model<double>& model, const Batch<double>& batch, Inference rule) {
  Graph<double> graph(model);
  graph.clear();
  Outcome<double> outcome;
  infer(graph, batch, rule, outcome);
  return outcome;
}

void check_equal(const Tensor<double>& a, const Tensor<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).epsilon(1e-12));
}

const std::vector<Inference> rules{Inference::soft, Inference::hard, Inference::marginal};

}  // namespace

TEST_CASE("attention and scores are distributions under every rule") {
  const Batch<double> batch = random_batch(5, 4, patch, 3);
  for (const Inference rule : rules) {
    const Outcome<double> outcome = outcome_of(small_model(), batch, rule);
    for (std::size_t b = 0; b < 5; ++b) {
      double a = 0, s = 0;
      for (std::size_t j = 0; j < 4; ++j) a += outcome.a.data()[b * 4 + j];
      for (std::size_t c = 0; c < 3; ++c) s += outcome.s.data()[b * 3 + c];
      CHECK(a == Approx(1).epsilon(1e-13));
      CHECK(s == Approx(1).epsilon(1e-13));
    }
  }
}

TEST_CASE("inference gives the same whatever a loss or another rule has recorded before") {
  const Model<double> model = small_model();
  const Batch<double> batch = random_batch(5, 4, patch, 3);
  for (const Inference rule : rules) {
    const Outcome<double> alone = outcome_of(model, batch, rule);
    for (const NamedLoss& loss : paper_losses()) {
      Graph<double> graph(model);
      graph.clear();
      loss_function<double>(loss)(graph, batch);
      Outcome<double> after;
      infer(graph, batch, rule, after);
      check_equal(after.a, alone.a);
      check_equal(after.s, alone.s);
    }
    for (const Inference before : rules) {
      Graph<double> graph(model);
      graph.clear();
      Outcome<double> after;
      infer(graph, batch, before, after);
      infer(graph, batch, rule, after);
      check_equal(after.s, alone.s);
    }
  }
}

TEST_CASE("of equally focused patches hard inference takes the first") {
  Model<double> model({2}, 2, {.focus = "linear nobias", .classify = "linear nobias"});
  std::fill(model.focus.weights().begin(), model.focus.weights().end(), 0.0);
  const std::vector<double> identity{1, 0, 0, 1};
  std::copy(identity.begin(), identity.end(), model.classify.weights().begin());
  Batch<double> batch = random_batch(1, 3, {2}, 2);
  const std::vector<double> x{5, 0, 0, 5, 1, 1};
  std::copy(x.begin(), x.end(), batch.x.data());
  const Outcome<double> outcome = outcome_of(model, batch, Inference::hard);
  CHECK(outcome.s.data()[0] == Approx(1 / (1 + std::exp(-5.0))));
}

TEST_CASE("with one patch the three rules agree") {
  const Batch<double> batch = random_batch(5, 1, patch, 3);
  const Outcome<double> soft = outcome_of(small_model(), batch, Inference::soft);
  check_equal(outcome_of(small_model(), batch, Inference::hard).s, soft.s);
  check_equal(outcome_of(small_model(), batch, Inference::marginal).s, soft.s);
}

TEST_CASE("a mosaic is seen the same whatever the batch around it") {
  const Batch<double> batch = random_batch(7, 4, patch, 3);
  for (const Inference rule : rules) {
    const Outcome<double> together = outcome_of(small_model(), batch, rule);
    Batch<double> alone = random_batch(1, 4, patch, 3);
    std::copy_n(batch.x.data() + 5 * alone.x.size(), alone.x.size(), alone.x.data());
    const Outcome<double> one = outcome_of(small_model(), alone, rule);
    for (std::size_t c = 0; c < 3; ++c) CHECK(one.s.data()[c] == Approx(together.s.data()[5 * 3 + c]).epsilon(1e-12));
  }
}

TEST_CASE("inference rules are found by name in any case") {
  for (const Inference rule : rules) CHECK(find_inference(to_string(rule)) == rule);
  CHECK(find_inference("LV") == Inference::marginal);
  CHECK_THROWS_AS(find_inference("soft"), UsageError);
}
