#include "fcam/attention/losses.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "fcam/attention/loss_check.h"
#include "fcam/base/error.h"
#include "support/batches.h"
#include "support/errors.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// A model of linear networks on patches of `classes` + 1 numbers: the score of a patch is its last number, its logits
// are the others. So a test writes down scores and logits.
template <class T>
Model<T> reading_model(std::size_t classes) {
  Model<T> model({classes + 1}, classes, {.focus = "linear nobias", .classify = "linear nobias"});
  for (auto* weights : {&model.focus.weights(), &model.classify.weights()})
    std::fill(weights->begin(), weights->end(), T(0));
  model.focus.weights()[classes] = 1;
  for (std::size_t c = 0; c < classes; ++c) model.classify.weights()[c * (classes + 1) + c] = 1;
  return model;
}

template <class T>
Batch<T> one_mosaic(const std::vector<std::vector<T>>& patches, int label) {
  Batch<T> batch{.x = {}, .label = {label}, .z = {0}};
  batch.x.resize(TensorShape{1, patches.size(), patches[0].size()});
  T* x = batch.x.data();
  for (const auto& patch : patches) x = std::copy(patch.begin(), patch.end(), x);
  return batch;
}

struct Value {
  double loss;
  Tensor<double> x_gradient;
};

template <class T>
double loss_of(const std::string& name, const Model<T>& model, const Batch<T>& batch,
               ModelGradient<T>* gradient = nullptr) {
  Graph<T> graph(model);
  graph.clear(gradient);
  const Var<T> loss = loss_function<T>(find_loss(name))(graph, batch);
  if (gradient != nullptr) graph.backward(loss);
  return loss.scalar();
}

const std::vector<std::string> names{"sa", "ha", "lv"};

}  // namespace

TEST_CASE("gradients of the losses of linear, fully connected and convolutional models", "[losses]") {
  struct Networks {
    Shape patch;
    std::string focus, classify;
  };
  const std::vector<Networks> all{
      {{5}, "linear", "linear nobias"},
      {{6}, "fc4 relu linear", "fc5 relu fc4 relu"},
      {{2, 7, 7}, "conv3k3 nobias relu pool2 fc4", "conv2k3 relu pool2 conv2k2 relu fc3 relu"}};
  for (const auto& [patch, focus, classify] : all) {
    for (const std::string& name : names) {
      Model<double> model(patch, 3, {.focus = focus, .classify = classify, .seed = 5});
      for (auto* weights : {&model.focus.weights(), &model.classify.weights()}) {
        for (std::size_t i = 0; i < weights->size(); ++i) (*weights)[i] += 0.01 * std::sin(static_cast<double>(i));
      }
      CHECK(check_loss_gradient(name, loss_function<double>(find_loss(name)), model, random_batch(4, 3, patch, 3)) ==
            "");
    }
  }
}

TEST_CASE("gradients of the losses of the paper's kind of network", "[losses]") {
  for (const std::string& name : names) {
    Model<double> model({1, 10, 10}, 2,
                        {.focus = "conv2k3 relu pool2 conv3k3 relu fc4 relu fc3 relu",
                         .classify = "conv2k3 relu pool2 conv3k3 relu fc4 relu fc3 relu"});
    CHECK(check_loss_gradient(name, loss_function<double>(find_loss(name)), model,
                              random_batch(3, 4, {1, 10, 10}, 2)) == "");
  }
}

TEST_CASE("a wrong loss gradient is found", "[losses]") {
  // stops the gradient of the attention: wrong for f
  const LossFunction<double> wrong = [](Graph<double>& graph, const Batch<double>& batch) {
    const auto a = softmax(graph.tape().constant(graph.focus(batch).value()));
    return -mean(sum(a * pick(log_softmax(graph.classify(batch)), batch.label)));
  };
  Model<double> model({5}, 3, {.focus = "linear", .classify = "linear"});
  CHECK_THAT(check_loss_gradient("wrong", wrong, model, random_batch(4, 3, {5}, 3)),
             Catch::StartsWith("wrong, focus: gradient at"));
}

TEST_CASE("the losses have the values of their equations", "[losses]") {
  const Model<double> model = reading_model<double>(2);
  // scores 0, ln 3: attention 1/4, 3/4. Logits (ln 2, 0) and (0, 0): probabilities of class 0 are 2/3 and 1/2.
  const Batch<double> batch = one_mosaic<double>({{std::log(2.0), 0, 0}, {0, 0, std::log(3.0)}}, 0);
  CHECK(loss_of("ha", model, batch) == Approx(-(0.25 * std::log(2.0 / 3) + 0.75 * std::log(0.5))).epsilon(1e-14));
  CHECK(loss_of("lv", model, batch) == Approx(-std::log(0.25 * 2 / 3 + 0.75 / 2)).epsilon(1e-14));
  const double logit = 0.25 * std::log(2.0);  // of the blended patch
  CHECK(loss_of("sa", model, batch) == Approx(-std::log(std::exp(logit) / (std::exp(logit) + 1))).epsilon(1e-14));
}

TEST_CASE("with one patch the three losses and their gradients are the same cross entropy", "[losses]") {
  const Shape patch{1, 8, 8};
  const Model<double> model(patch, 4, {.focus = "conv2k3 relu pool2 fc4", .classify = "conv2k3 relu pool2 fc4"});
  const Batch<double> batch = random_batch(6, 1, patch, 4);
  ModelGradient<double> soft(model), other(model);
  const double expected = loss_of("sa", model, batch, &soft);
  for (const std::string name : {"ha", "lv"}) {
    other.clear();
    CHECK(loss_of(name, model, batch, &other) == Approx(expected).epsilon(1e-14));
    for (std::size_t i = 0; i < soft.classify.size(); ++i) {
      CHECK(other.classify[i] == Approx(soft.classify[i]).epsilon(1e-12).margin(1e-15));
    }
    for (const double g : other.focus) CHECK(std::abs(g) < 1e-14);
  }
}

TEMPLATE_TEST_CASE("losses and gradients are finite for logits and scores of magnitude 1e4", "[losses]", float,
                   double) {
  const Model<TestType> model = reading_model<TestType>(2);
  const TestType big = 10000;
  const std::vector<Batch<TestType>> batches{one_mosaic<TestType>({{big, -big, big}, {-big, big, -big}}, 0),
                                             one_mosaic<TestType>({{big, -big, big}, {-big, big, -big}}, 1),
                                             one_mosaic<TestType>({{-big, big, big}, {big, -big, big}}, 0),
                                             one_mosaic<TestType>({{0, 0, -big}, {big, big, -big}}, 1)};
  for (const auto& batch : batches) {
    for (const std::string& name : names) {
      ModelGradient<TestType> gradient(model);
      CHECK(std::isfinite(loss_of(name, model, batch, &gradient)));
      for (const auto* part : {&gradient.focus, &gradient.classify}) {
        for (const TestType g : *part) CHECK(std::isfinite(g));
      }
    }
  }
}

TEMPLATE_TEST_CASE("the marginal likelihood is not capped where probabilities vanish", "[losses]", float, double) {
  const Model<TestType> model = reading_model<TestType>(2);
  // Attention sits on a patch that excludes the label by 2e4; the other patch has e^-2e4 of the attention and p = 1.
  const TestType big = 10000;
  const auto batch = one_mosaic<TestType>({{-big, big, big}, {big, -big, -big}}, 0);
  ModelGradient<TestType> gradient(model);
  CHECK(loss_of("lv", model, batch, &gradient) == Approx(20000 - std::log(2.0)).epsilon(1e-6));
  CHECK(std::any_of(gradient.focus.begin(), gradient.focus.end(), [](TestType g) { return g != 0; }));
}

TEST_CASE("losses are found by name in any case; other names are refused with the nearest", "[losses]") {
  CHECK(find_loss("sa").inference == Inference::soft);
  CHECK(find_loss("HA").inference == Inference::hard);
  CHECK(find_loss("Lv").inference == Inference::marginal);
  CHECK_THROWS_WITH(find_loss("lvv", paper_losses()), "loss: expected one of sa, ha, lv, found 'lvv' (nearest: lv)");
  CHECK(find_loss("lv-EM").exact == "lv");
  CHECK_THROWS_AS(find_loss("lv-em", paper_losses()), UsageError);
  CHECK_THROWS_AS(find_loss(""), UsageError);
}

TEST_CASE("results of a network on a batch are computed once in a record", "[losses]") {
  const Model<double> model({3}, 2, {.focus = "linear", .classify = "linear"});
  const Batch<double> batch = random_batch(2, 2, {3}, 2);
  Graph<double> graph(model);
  graph.clear();
  CHECK(&graph.focus(batch).node() == &graph.focus(batch).node());
  CHECK(&graph.classify(batch).node() == &graph.classify(batch).node());
}

TEST_CASE("two patches classified apart in one loss both send gradients to g", "[losses]") {
  const LossFunction<double> twice = [](Graph<double>& graph, const Batch<double>& batch) {
    const auto a = softmax(graph.focus(batch));
    const auto one = graph.classify(blend(a, batch)), two = graph.classify_apart(blend(2 * a, batch));
    return -mean(pick(log_softmax(one + two), batch.label));
  };
  Model<double> model({5}, 3, {.focus = "fc4 relu linear", .classify = "fc4 relu linear"});
  CHECK(check_loss_gradient("twice", twice, model, random_batch(4, 3, {5}, 3)) == "");
}

TEST_CASE("with one class every loss and its gradients are zero", "[losses]") {
  const Model<double> model({5}, 1, {.focus = "fc4 relu linear", .classify = "fc4 relu linear"});
  const Batch<double> batch = random_batch(4, 3, {5}, 1);
  for (const std::string& name : names) {
    ModelGradient<double> gradient(model);
    CHECK(std::abs(loss_of(name, model, batch, &gradient)) < 1e-14);
    for (const auto* part : {&gradient.focus, &gradient.classify}) {
      for (const double g : *part) CHECK(std::abs(g) < 1e-14);
    }
  }
}

TEST_CASE("what is no loss of a batch has no function", "[losses]") {
  check_error<UsageError>([] { loss_function<double>(find_loss("hybrid")); }, {"loss", "'hybrid'"});
  check_error<UsageError>(
      [] {
        loss_function<double>({"mine", "a loss without a branch", Inference::soft, 0.05});
      },
      {"loss", "'mine'"});
}
