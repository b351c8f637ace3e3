#include "fcam/analysis/evaluate.h"

#include <cmath>

#include "support/errors.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

template <class T>
Metrics metrics_of(const Model<T>& model, const Mosaics& mosaics, const std::string& loss,
                   const EvaluateOptions& options = {}, int threads = 2) {
  Workers workers(threads);
  return evaluate(model, mosaics, named_loss<T>(loss), options, workers);
}

// Attention and scores of a set of mosaics in one graph.
Outcome<double> outcome_of(const Model<double>& model, const Mosaics& mosaics, Inference rule) {
  const Batch<double> batch = make_batch<double>(mosaics, first_indices(mosaics.count()));
  Graph<double> graph(model);
  graph.clear();
  Outcome<double> outcome;
  infer(graph, batch, rule, outcome);
  return outcome;
}

// A model of numbered bags whose scores differ from patch to patch without running into zero and one.
Model<double> gentle_model() {
  Model<double> model = numbered_model<double>();
  std::fill(model.focus.weights().begin(), model.focus.weights().end(), 0.3);
  const std::vector<double> classify{0.02, -0.02, 0.01, 0, 0.5, -0.1};
  std::copy(classify.begin(), classify.end(), model.classify.weights().begin());
  return model;
}

const std::vector<Inference> rules{Inference::soft, Inference::hard, Inference::marginal};

}  // namespace

TEST_CASE("evaluation gives the same bits for every number of threads", "[analysis]") {
  const Model<float> model = shapes_model();
  const Mosaics mosaics = shapes_mosaics(150);
  for (const std::string& loss : loss_names) {
    const EvaluateOptions options{.inference = find_loss(loss).inference, .batch = 64};
    const Metrics one = metrics_of(model, mosaics, loss, options, 1);
    for (const int threads : {2, 3}) {
      CAPTURE(loss, threads);
      CHECK(same_numbers(metrics_of(model, mosaics, loss, options, threads), one));
    }
  }
}

TEST_CASE("evaluation does not depend on the batch size beyond rounding", "[analysis]") {
  const Model<float> model = shapes_model();
  const Mosaics mosaics = shapes_mosaics(100);
  for (const Inference rule : rules) {
    const Metrics whole = metrics_of(model, mosaics, "lv", {.inference = rule, .batch = 100});
    for (const std::size_t batch : {1, 7, 256}) {
      CAPTURE(to_string(rule), batch);
      const Metrics metrics = metrics_of(model, mosaics, "lv", {.inference = rule, .batch = batch});
      CHECK(metrics.n == 100);
      CHECK(metrics.loss == Approx(whole.loss).epsilon(1e-6));
      CHECK(metrics.accuracy == Approx(whole.accuracy).epsilon(1e-12));
      CHECK(metrics.ftpt == Approx(whole.ftpt).epsilon(1e-12));
      CHECK(metrics.focus_mean == Approx(whole.focus_mean).epsilon(1e-6));
      CHECK(metrics.focus_entropy == Approx(whole.focus_entropy).epsilon(1e-6));
    }
  }
}

TEST_CASE("the loss of an evaluation is the mean over all mosaics, also where a batch is short", "[analysis]") {
  const Model<double> model = shapes_model<double>();
  const Mosaics mosaics = shapes_mosaics(37);
  const Batch<double> batch = make_batch<double>(mosaics, first_indices(37));
  for (const std::string& loss : loss_names) {
    Graph<double> graph(model);
    graph.clear();
    const double expected = named_loss<double>(loss)(graph, batch).scalar();
    CHECK(metrics_of(model, mosaics, loss, {.batch = 20}).loss == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("a visitor sees every mosaic once, in order, with its label and position", "[analysis]") {
  const Mosaics mosaics = numbered_bags(50, 4);
  const Model<float> model = numbered_model();
  Workers workers(2);
  std::size_t done = 0;
  const auto visit = [&](std::size_t first, const BatchOutcome<float>& outcome) {
    CHECK(first == done);
    for (std::size_t b = 0; b < outcome.size(); ++b, ++done) {
      CHECK(outcome.label(b) == static_cast<int>(done % 3));
      CHECK(outcome.z(b) == static_cast<int>(done % 4));
      CHECK(outcome.a(b).size() == 4);
      CHECK(outcome.s(b).size() == 3);
    }
  };
  evaluate<float>(model, mosaics, named_loss("sa"), {.batch = 16}, workers, visit);
  CHECK(done == 50);
}

TEST_CASE("what a visitor sees are attention and scores of each mosaic by the rule asked for", "[analysis]") {
  const Mosaics mosaics = numbered_bags(21, 3);
  const Model<double> model = gentle_model();
  Workers workers(2);
  for (const Inference rule : rules) {
    const Outcome<double> expected = outcome_of(model, mosaics, rule);
    for (const std::string& loss : loss_names) {
      const auto visit = [&](std::size_t first, const BatchOutcome<double>& outcome) {
        for (std::size_t b = 0; b < outcome.size(); ++b) {
          for (std::size_t k = 0; k < 3; ++k) {
            CHECK(outcome.a(b)[k] == Approx(expected.a.data()[(first + b) * 3 + k]).epsilon(1e-12));
            CHECK(outcome.s(b)[k] == Approx(expected.s.data()[(first + b) * 3 + k]).epsilon(1e-12));
          }
        }
      };
      evaluate<double>(model, mosaics, named_loss<double>(loss), {.inference = rule, .batch = 8}, workers, visit);
    }
  }
}

TEST_CASE("the metrics of an evaluation are those of the mosaics that its visitor sees", "[analysis]") {
  const Mosaics mosaics = numbered_bags(50, 4);
  const Model<float> model = numbered_model();
  Workers workers(2);
  MetricsSum sum(7);
  const auto visit = [&](std::size_t, const BatchOutcome<float>& outcome) { outcome.add_to(sum); };
  const Metrics metrics = evaluate<float>(model, mosaics, named_loss("lv"), {.bins = 7, .batch = 16}, workers, visit);
  CHECK(same_numbers(metrics, sum.result()));
  CHECK(metrics.heat_map.bins() == 7);
}

TEST_CASE("bags without positions are evaluated without focus metrics", "[analysis]") {
  const Metrics metrics = metrics_of(numbered_model(), numbered_bags(30, 3, false), "lv");
  CHECK(std::isnan(metrics.ftpt));
  CHECK(std::isnan(metrics.saif));
  CHECK(std::isfinite(metrics.loss));
  CHECK(std::isfinite(metrics.focus_entropy));
  CHECK(metrics.accuracy >= 0);
}

TEST_CASE("with one patch the losses and the rules of inference agree", "[analysis]") {
  const Model<double> model = shapes_model<double>("mlp");
  const Mosaics mosaics = shapes_mosaics(40, 1);
  const Metrics soft = metrics_of(model, mosaics, "sa", {.inference = Inference::soft});
  CHECK(soft.focus_mean == 1);
  CHECK(soft.focus_entropy == 0);
  CHECK(soft.ftpt == soft.accuracy);
  for (const std::string loss : {"ha", "lv"}) {
    const Metrics other = metrics_of(model, mosaics, loss, {.inference = find_loss(loss).inference});
    CHECK(other.loss == Approx(soft.loss).epsilon(1e-12));
    CHECK(other.accuracy == soft.accuracy);
  }
}

TEST_CASE("a model that does not fit the mosaics is not evaluated", "[analysis]") {
  check_error<UsageError>([] { metrics_of(shapes_model(), numbered_bags(4, 2), "lv"); },
                          {"expected patches of 3x16x16"});
  const Model<float> four({3, 16, 16}, 4, {.focus = "linear", .classify = "linear"});
  check_error<UsageError>([&] { metrics_of(four, shapes_mosaics(4), "lv"); }, {"4 foreground classes", "found 3"});
}

TEST_CASE("evaluation changes no weight", "[analysis]") {
  const Model<float> model = shapes_model();
  const Model<float> before = model;
  metrics_of(model, shapes_mosaics(20), "sa", {.inference = Inference::soft});
  CHECK(same_bits(model, before));
}
