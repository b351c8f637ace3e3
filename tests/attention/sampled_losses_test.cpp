#include "fcam/attention/sampled_losses.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <set>

#include "fcam/attention/loss_check.h"
#include "support/batches.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr std::size_t m = 4;
constexpr int classes = 3;

Model<double> linear_model() {
  return Model<double>({5}, classes, {.focus = "linear", .classify = "linear", .seed = 3});
}

std::vector<double> flat(const ModelGradient<double>& gradient) {
  std::vector<double> all(gradient.focus.begin(), gradient.focus.end());
  all.insert(all.end(), gradient.classify.begin(), gradient.classify.end());
  return all;
}

// Value and gradient of a loss, reusing one graph.
class Evaluation {
 public:
  explicit Evaluation(const Model<double>& model) : graph_(model), gradient_(model) {}
  template <class Loss>
  double operator()(Loss&& loss, const Batch<double>& batch) {
    gradient_.clear();
    graph_.clear(&gradient_);
    const Var<double> value = loss(graph_, batch);
    graph_.backward(value);
    return value.scalar();
  }
  const ModelGradient<double>& gradient() const { return gradient_; }

 private:
  Graph<double> graph_;
  ModelGradient<double> gradient_;
};

// Mean and standard error of numbers that come in one after the other (Welford).
class Moments {
 public:
  void add(double x) {
    ++n_;
    const double change = x - mean_;
    mean_ += change / n_;
    squares_ += change * (x - mean_);
  }
  double mean() const { return mean_; }
  double standard_error() const { return std::sqrt(squares_ / (n_ * (n_ - 1))); }

 private:
  double n_ = 0, mean_ = 0, squares_ = 0;
};

// Over 100000 draws: every number of sample(seed) is within 4 standard errors of the expected one. Where a number never
// changes, the standard error is zero and rounding is what remains.
template <class Sample>
void check_unbiased(const std::vector<double>& expected, Sample&& sample) {
  std::vector<Moments> moments(expected.size());
  for (std::uint64_t seed = 0; seed < 100000; ++seed) {
    const std::vector<double> numbers = sample(seed);
    for (std::size_t i = 0; i < expected.size(); ++i) moments[i].add(numbers[i]);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("number " << i);
    CHECK(std::abs(moments[i].mean() - expected[i]) <= 4 * moments[i].standard_error() + 1e-12);
  }
}

// -mean_b sum_j a_j p_j: what the reward p_y descends for f.
constexpr auto expected_error = [](auto& graph, const auto& batch) {
  return -mean(sum(softmax(graph.focus(batch)) * exp(log_probability(graph.classify(batch), batch.label))));
};

}  // namespace

TEST_CASE("sampled hard attention has the gradient of hard attention in the mean") {
  const Model<double> model = linear_model();
  Batch<double> batch = random_batch(3, m, {5}, classes);
  Evaluation exact(model), sampled(model);
  const double loss = exact(losses::hard, batch);
  std::vector<double> expected = flat(exact.gradient());
  expected.push_back(loss);
  for (const std::size_t samples : {1, 3}) {
    check_unbiased(expected, [&](std::uint64_t seed) {
      batch.draw_seed = seed;
      const double value = sampled(
          [&](auto& graph, const auto& b) { return losses::hard_sampled(graph, b, samples, Reward::log_probability); },
          batch);
      std::vector<double> numbers = flat(sampled.gradient());
      numbers.push_back(value);
      return numbers;
    });
  }
}

TEST_CASE("with the probability as reward f has the gradient of the expected probability in the mean") {
  const Model<double> model = linear_model();
  Batch<double> batch = random_batch(3, m, {5}, classes);
  Evaluation exact(model), sampled(model);
  exact(expected_error, batch);
  const std::vector<double> expected(exact.gradient().focus.begin(), exact.gradient().focus.end());
  check_unbiased(expected, [&](std::uint64_t seed) {
    batch.draw_seed = seed;
    sampled([](auto& graph, const auto& b) { return losses::hard_sampled(graph, b, 2, Reward::probability); }, batch);
    return std::vector<double>(sampled.gradient().focus.begin(), sampled.gradient().focus.end());
  });
}

TEST_CASE("the likelihood of the best patches and one of the rest is unbiased, and so is its gradient") {
  const Model<double> model = linear_model();
  Batch<double> batch = random_batch(1, m, {5}, classes, 8);
  Evaluation exact(model), sampled(model);
  // of the likelihood e^-L: its gradient is -e^-L times that of L
  const auto likelihood = [](Evaluation& evaluation, double loss) {
    std::vector<double> numbers = flat(evaluation.gradient());
    for (double& g : numbers) g *= -std::exp(-loss);
    numbers.push_back(std::exp(-loss));
    return numbers;
  };
  const std::vector<double> expected = likelihood(exact, exact(losses::marginal, batch));
  for (const std::size_t top : {0, 1, 2}) {
    check_unbiased(expected, [&](std::uint64_t seed) {
      batch.draw_seed = seed;
      return likelihood(sampled,
                        sampled([&](auto& g, const auto& b) { return losses::marginal_top(g, b, top); }, batch));
    });
  }
}

TEST_CASE("with as many patches as there are the selection is the marginal likelihood") {
  const Model<double> model = linear_model();
  const Batch<double> batch = random_batch(5, m, {5}, classes);
  Evaluation exact(model), selected(model);
  const double expected = exact(losses::marginal, batch);
  for (const std::size_t top : {m - 1, m, m + 5}) {
    CHECK(selected([&](auto& g, const auto& b) { return losses::marginal_top(g, b, top); }, batch) ==
          Approx(expected).epsilon(1e-14));
    const std::vector<double> a = flat(exact.gradient()), b = flat(selected.gradient());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(1e-12).margin(1e-15));
  }
}

TEST_CASE("expectation maximisation has the value and the gradient of the marginal likelihood") {
  const Shape patch{2, 7, 7};
  const Model<double> model(patch, classes,
                            {.focus = "conv3k3 nobias relu pool2 fc4", .classify = "conv2k3 relu pool2 fc3 relu"});
  const Batch<double> batch = random_batch(6, 5, patch, classes);
  Evaluation marginal(model), em(model);
  CHECK(em(losses::marginal_em, batch) == Approx(marginal(losses::marginal, batch)).epsilon(1e-12));
  const std::vector<double> a = flat(marginal.gradient()), b = flat(em.gradient());
  double size = 0, error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size = std::max(size, std::abs(a[i]));
    error = std::max(error, std::abs(a[i] - b[i]));
  }
  CHECK(error < 1e-10 * size);
}

TEST_CASE("expectation maximisation stays finite where responsibilities underflow") {
  Model<double> model = linear_model();
  for (double& weight : model.focus.weights()) weight *= 1e4;
  for (double& weight : model.classify.weights()) weight *= 1e4;
  const Batch<double> batch = random_batch(6, 5, {5}, classes);
  Evaluation em(model);
  CHECK(std::isfinite(em(losses::marginal_em, batch)));
  for (const double g : flat(em.gradient())) CHECK(std::isfinite(g));
}

TEST_CASE("what is drawn for a mosaic depends on the seed and the mosaic, not on its place in the batch") {
  const Model<double> model = linear_model();
  Batch<double> batch = random_batch(6, m, {5}, classes);
  Graph<double> graph(model);
  const auto draws = [&](std::uint64_t seed) {
    batch.draw_seed = seed;
    graph.clear();
    const Var<double> log_a = log_softmax(graph.focus(batch));
    return draw_positions(graph, batch, log_a, 20);
  };
  const std::vector<int> first = draws(5);
  CHECK(draws(5) == first);
  CHECK(draws(6) != first);
  // the same attention everywhere: the draws follow the index
  std::fill(batch.x.data(), batch.x.data() + batch.x.size(), 0.0);
  const std::vector<int> even = draws(5);
  std::reverse(batch.index.begin(), batch.index.end());
  const std::vector<int> reversed = draws(5);
  for (std::size_t b = 0; b < 6; ++b) {
    CHECK(std::equal(even.begin() + 20 * static_cast<std::ptrdiff_t>(b),
                     even.begin() + 20 * static_cast<std::ptrdiff_t>(b + 1),
                     reversed.begin() + 20 * static_cast<std::ptrdiff_t>(5 - b)));
  }
}

TEST_CASE("the selection holds the most attended patches, best first, and one of the others") {
  const Model<double> model = linear_model();
  Batch<double> batch = random_batch(1, m, {5}, classes);
  Tensor<double> log_a;
  log_a.resize(TensorShape{1, m});
  const std::vector<double> values{-1.5, -0.6, -3.0, -1.5};
  std::copy(values.begin(), values.end(), log_a.data());
  Graph<double> graph(model);
  std::set<int> others;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    batch.draw_seed = seed;
    graph.clear();
    const auto [positions, log_q] = select_top(graph, batch, graph.tape().constant(log_a), 2);
    REQUIRE(positions.size() == 3);
    CHECK(positions[0] == 1);
    CHECK(positions[1] == 0);  // of two equals the first
    others.insert(positions[2]);
    CHECK(log_q.value().data()[0] == 0);
    CHECK(log_q.value().data()[1] == 0);
    const double rest = std::exp(-3.0) + std::exp(-1.5);
    const double expected = values[static_cast<std::size_t>(positions[2])] - std::log(rest);
    CHECK(log_q.value().data()[2] == Approx(expected).epsilon(1e-12));
  }
  CHECK(others == std::set<int>{2, 3});
}

TEST_CASE("an advantage is a reward less the mean of the other draws'") {
  Tape<double> tape;
  Tensor<double> rewards;
  rewards.resize(TensorShape{2, 3});
  const std::vector<double> values{1, 2, 6, 4, 4, 4};
  std::copy(values.begin(), values.end(), rewards.data());
  const Var<double> several = advantage(tape.constant(rewards));
  const std::vector<double> expected{-3, -1.5, 4.5, 0, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) CHECK(several.value().data()[i] == Approx(expected[i]).margin(1e-15));
  rewards.resize(TensorShape{3, 1});
  std::copy_n(values.begin(), 3, rewards.data());
  const Var<double> one = advantage(tape.constant(rewards));
  for (std::size_t i = 0; i < 3; ++i) CHECK(one.value().data()[i] == Approx(expected[i]).margin(1e-15));
}
