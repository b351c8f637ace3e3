#include "fcam/attention/fixed_focus.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "fcam/attention/inference.h"
#include "fcam/attention/loss_check.h"
#include "support/batches.h"
#include "support/errors.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr int classes = 3;

Model<double> small_model() { return Model<double>({4}, classes, {.focus = "linear", .classify = "fc5 relu"}); }

// -log softmax(g(x))_y of one patch of 4 numbers.
double cross_entropy(const Model<double>& model, const std::vector<double>& x, int y) {
  Graph<double> graph(model);
  Tensor<double> patch;
  patch.resize(TensorShape{1, 4});
  std::copy(x.begin(), x.end(), patch.data());
  const Var<double> logits = graph.classify(graph.tape().constant(patch));
  double total = 0;
  for (int c = 0; c < classes; ++c) total += std::exp(logits.value().data()[c]);
  return std::log(total) - logits.value().data()[y];
}

// The three losses patch by patch, as the paper writes them.
double expected_loss(const std::string& name, const Model<double>& model, const Batch<double>& batch, double alpha) {
  const std::size_t m = batch.x.shape()[1];
  double total = 0;
  for (std::size_t b = 0; b < batch.size(); ++b) {
    std::vector<double> blended(4, 0.0);
    double hard = 0, likelihood = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const bool foreground = static_cast<int>(j) == batch.z[b];
      const double a = foreground ? alpha : (1 - alpha) / static_cast<double>(m - 1);
      const double* x = batch.x.data() + (b * m + j) * 4;
      for (std::size_t d = 0; d < 4; ++d) blended[d] += a * x[d];
      const double entropy = cross_entropy(model, {x, x + 4}, batch.label[b]);
      hard += a * entropy;
      likelihood += a * std::exp(-entropy);
    }
    total += name == "sa" ? cross_entropy(model, blended, batch.label[b]) : name == "ha" ? hard : -std::log(likelihood);
  }
  return total / static_cast<double>(batch.size());
}

LossFunction<double> fixed_loss(const std::string& name, double alpha) {
  return with_fixed_focus(loss_function<double>(find_loss(name)), alpha);
}

}  // namespace

TEST_CASE("losses with fixed focus are those of attention alpha at z and (1-alpha)/(m-1) elsewhere", "[fixed]") {
  const Model<double> model = small_model();
  for (const std::size_t m : {2, 5}) {
    const Batch<double> batch = random_batch(6, m, {4}, classes);
    for (const std::string name : {"sa", "ha", "lv"}) {
      for (const double alpha : {0.0, 0.2, 0.75, 1.0}) {
        CAPTURE(m, name, alpha);
        Graph<double> graph(model);
        CHECK(fixed_loss(name, alpha)(graph, batch).scalar() ==
              Approx(expected_loss(name, model, batch, alpha)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("gradients of losses with fixed focus; f gets none", "[fixed]") {
  const Batch<double> batch = random_batch(4, 3, {4}, classes);
  for (const std::string name : {"sa", "ha", "lv"}) {
    for (const double alpha : {0.3, 1.0}) {
      Model<double> model = small_model();
      CHECK(check_loss_gradient(name, fixed_loss(name, alpha), model, batch) == "");
      Graph<double> graph(model);
      ModelGradient<double> gradient(model);
      graph.clear(&gradient);
      graph.backward(fixed_loss(name, alpha)(graph, batch));
      CHECK(std::all_of(gradient.focus.begin(), gradient.focus.end(), [](double g) { return g == 0; }));
    }
  }
}

TEST_CASE("inference after a loss with fixed focus sees that focus, and the next record is free of it", "[fixed]") {
  const Model<double> model = small_model();
  const Batch<double> batch = random_batch(3, 4, {4}, classes);
  Graph<double> graph(model);
  Outcome<double> held, learnt;
  fixed_loss("lv", 0.7)(graph, batch);
  infer(graph, batch, Inference::marginal, held);
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t j = 0; j < 4; ++j) {
      CHECK(held.a.data()[b * 4 + j] == Approx(static_cast<int>(j) == batch.z[b] ? 0.7 : 0.1));
    }
  }
  graph.clear();
  infer(graph, batch, Inference::marginal, learnt);
  CHECK(std::abs(learnt.a.data()[static_cast<std::size_t>(batch.z[0])] - 0.7) > 1e-3);
}

TEST_CASE("with one patch the three losses are the same, and only alpha 1 is accepted", "[fixed]") {
  const Model<double> model = small_model();
  const Batch<double> batch = random_batch(5, 1, {4}, classes);
  std::vector<double> values;
  for (const std::string name : {"sa", "ha", "lv"}) {
    Graph<double> graph(model);
    values.push_back(fixed_loss(name, 1)(graph, batch).scalar());
    check_error<UsageError>([&] { fixed_loss(name, 0.5)(graph, batch); }, {"alpha", "expected 1", "one patch", "0.5"});
  }
  CHECK(values[1] == Approx(values[0]).epsilon(1e-14));
  CHECK(values[2] == Approx(values[0]).epsilon(1e-14));
}

TEST_CASE("an alpha that is no share, and positions that are not known, are usage errors", "[fixed]") {
  const Model<double> model = small_model();
  Batch<double> batch = random_batch(2, 3, {4}, classes);
  Graph<double> graph(model);
  for (const double alpha : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    check_error<UsageError>([&] { hold_attention(graph, batch, alpha); }, {"alpha", "from 0 to 1"});
    check_error<UsageError>([&] { fixed_attention(graph, batch, alpha); }, {"alpha", "from 0 to 1"});
  }
  batch.z[1] = -1;
  check_error<UsageError>([&] { hold_attention(graph, batch, 0.5); }, {"fixed focus", "positions"});
}
