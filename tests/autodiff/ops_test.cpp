#include "fcam/autodiff/ops.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "support/gradients.h"

using namespace fcam;
using namespace fcam::test;

namespace {

Tensor<double> tensor(const Shape& shape, const std::vector<double>& values) {
  Tensor<double> x;
  x.resize(TensorShape(shape.begin(), shape.end()));
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

std::vector<double> elements(Var<double> y) { return {y.value().data(), y.value().data() + y.value().size()}; }

const std::vector<Shape> row_shapes{{1, 1}, {1, 6}, {4, 3}, {3, 2, 5}, {2, 3, 2, 2}};

}  // namespace

TEST_CASE("gradients of sums, differences and products") {
  for (const Shape& shape : row_shapes) {
    const std::vector inputs{normal_tensor(shape, 1), normal_tensor(shape, 2)};
    CHECK(check_operation("a + b", inputs, [](auto&, auto& x) { return x[0] + x[1]; }) == "");
    CHECK(check_operation("a - b", inputs, [](auto&, auto& x) { return x[0] - x[1]; }) == "");
    CHECK(check_operation("a b", inputs, [](auto&, auto& x) { return x[0] * x[1]; }) == "");
  }
}

TEST_CASE("gradients of scaling, negation and division by a number") {
  const std::vector inputs{normal_tensor({4, 3})};
  CHECK(check_operation("2.5 x", inputs, [](auto&, auto& x) { return 2.5 * x[0]; }) == "");
  CHECK(check_operation("-x", inputs, [](auto&, auto& x) { return -x[0]; }) == "");
  CHECK(check_operation("x / 3", inputs, [](auto&, auto& x) { return x[0] / 3; }) == "");
}

TEST_CASE("gradient of exp") {
  CHECK(check_operation("exp", {normal_tensor({4, 3})}, [](auto&, auto& x) { return exp(x[0]); }) == "");
}

TEST_CASE("gradient of softmax for rows of every length") {
  for (const Shape& shape : row_shapes) {
    CHECK(check_operation("softmax", {normal_tensor(shape)}, [](auto&, auto& x) { return softmax(x[0]); }) == "");
  }
}

TEST_CASE("gradient of log_softmax for rows of every length") {
  for (const Shape& shape : row_shapes) {
    CHECK(check_operation("log_softmax", {normal_tensor(shape)}, [](auto&, auto& x) { return log_softmax(x[0]); }) ==
          "");
  }
}

TEST_CASE("gradients of logsumexp, sum and mean") {
  for (const Shape& shape : row_shapes) {
    const std::vector inputs{normal_tensor(shape)};
    CHECK(check_operation("logsumexp", inputs, [](auto&, auto& x) { return logsumexp(x[0]); }) == "");
    CHECK(check_operation("sum", inputs, [](auto&, auto& x) { return sum(x[0]); }) == "");
    CHECK(check_operation("mean", inputs, [](auto&, auto& x) { return mean(x[0]); }) == "");
  }
}

TEST_CASE("gradient of take from scores and from patches, some positions taken twice and some not at all") {
  const std::vector<int> positions{2, 0, 2, 1, 1, 1};
  for (const Shape& shape : {Shape{2, 3}, Shape{2, 3, 4}, Shape{3, 3, 2, 2}, Shape{6, 3}}) {
    CHECK(check_operation("take", {normal_tensor(shape)}, [&](auto&, auto& x) { return take(x[0], positions); }) == "");
  }
}

TEST_CASE("take gives the parts at the positions, bag by bag") {
  Tape<double> tape;
  const Tensor<double> x = tensor({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::vector<int> positions{2, 0, 1, 1};
  const Var<double> y = take(tape.constant(x), positions);
  CHECK(shape_of(y.value()) == Shape{2, 2, 2});
  CHECK(elements(y) == std::vector<double>{5, 6, 1, 2, 9, 10, 9, 10});
}

TEST_CASE("detach passes the value on and no gradient") {
  Tape<double> tape;
  const Tensor<double> x = tensor({1}, {3});
  const Var<double> v = tape.variable(x);
  tape.backward(v * detach(v));
  CHECK(v.gradient().data()[0] == 3);
}

TEST_CASE("gradient of pick from rows and from rows of patches") {
  const std::vector<int> index{2, 0, 1};
  CHECK(check_operation("pick (B,C)", {normal_tensor({3, 4})}, [&](auto&, auto& x) { return pick(x[0], index); }) ==
        "");
  CHECK(check_operation("pick (B,m,C)", {normal_tensor({3, 2, 4})},
                        [&](auto&, auto& x) { return pick(x[0], index); }) == "");
}

TEST_CASE("gradient of blend in attention and in patches, longer than its partial sums too") {
  for (const Shape& patch : std::vector<Shape>{{1}, {5}, {2, 3, 3}, {37}}) {
    Shape shape{3, 4};
    shape.insert(shape.end(), patch.begin(), patch.end());
    CHECK(check_operation("blend", {normal_tensor({3, 4}), normal_tensor(shape, 2)},
                          [](auto&, auto& x) { return blend(x[0], x[1]); }) == "");
  }
}

TEST_CASE("a value used several times gets the sum of its gradients") {
  CHECK(check_operation("x exp(x) + softmax(x) x", {normal_tensor({2, 5})},
                        [](auto&, auto& x) { return x[0] * exp(x[0]) + softmax(x[0]) * x[0]; }) == "");
}

TEST_CASE("a product of a value with itself") {
  CHECK(check_operation("x x", {normal_tensor({2, 3})}, [](auto&, auto& x) { return x[0] * x[0]; }) == "");
}

TEST_CASE("softmax and its logarithm have the values of their definition") {
  Tape<double> tape;
  const auto x = tensor({2, 3}, {0, std::log(2.0), std::log(3.0), 1, 1, 1});
  const auto a = elements(softmax(tape.constant(x)));
  const auto log_a = elements(log_softmax(tape.constant(x)));
  const std::vector<double> expected{1 / 6.0, 2 / 6.0, 3 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 3.0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(a[i] == Approx(expected[i]).epsilon(1e-14));
    CHECK(log_a[i] == Approx(std::log(expected[i])).epsilon(1e-14));
  }
}

TEST_CASE("logsumexp, sum, mean and pick have the values of their definition") {
  Tape<double> tape;
  const auto x = tensor({2, 3}, {0, std::log(2.0), std::log(3.0), 1, 2, 4});
  const std::vector<int> index{1, 2};
  const Var<double> v = tape.constant(x);
  CHECK(elements(logsumexp(v))[0] == Approx(std::log(6.0)).epsilon(1e-14));
  CHECK(elements(sum(v))[1] == 7);
  CHECK(mean(v).scalar() == Approx((std::log(6.0) + 7) / 6).epsilon(1e-14));
  CHECK(elements(pick(v, index)) == std::vector<double>{std::log(2.0), 4});
}

TEST_CASE("blend is the weighted sum of the patches of each bag") {
  Tape<double> tape;
  const auto a = tensor({2, 2}, {0.25, 0.75, 1, 0});
  const auto x = tensor({2, 2, 3}, {4, 8, 12, 0, 4, 8, 1, 2, 3, 9, 9, 9});
  CHECK(elements(blend(tape.constant(a), tape.constant(x))) == std::vector<double>{1, 5, 9, 1, 2, 3});
}

TEMPLATE_TEST_CASE("operations stay finite and exact for inputs of magnitude 1e4", "", float, double) {
  Tape<TestType> tape;
  Tensor<TestType> x;
  x.resize(TensorShape{2, 3});
  const TestType values[] = {-10000, 0, 10000, 10000, 10000, -10000};
  std::copy_n(values, 6, x.data());
  const Var<TestType> v = tape.variable(x);
  const Var<TestType> log_p = log_softmax(v);
  CHECK(log_p.value().data()[0] == TestType(-20000));
  CHECK(log_p.value().data()[2] == TestType(0));
  CHECK(log_p.value().data()[3] == Approx(-std::log(2.0)).margin(1e-3));
  CHECK(logsumexp(v).value().data()[0] == TestType(10000));
  tape.backward(mean(log_p));
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isfinite(v.gradient().data()[i]));
  CHECK(v.gradient().data()[0] == Approx(1.0 / 6));  // d mean / dx = 1/6 - 3/6 softmax
  CHECK(v.gradient().data()[2] == Approx(1.0 / 6 - 0.5));
}

TEST_CASE("no gradient goes where none is needed") {
  Tape<double> tape;
  const auto x = normal_tensor({2, 3});
  const Var<double> constant = tape.constant(x), variable = tape.variable(x);
  tape.backward(mean(constant * variable));
  CHECK_FALSE(constant.has_gradient());
  CHECK(variable.has_gradient());
}

TEST_CASE("what does not lead to the output gets no gradient") {
  Tape<double> tape;
  const auto x = normal_tensor({2, 3});
  const Var<double> used = tape.variable(x), unused = tape.variable(x);
  const Var<double> aside = exp(unused);
  tape.backward(mean(used));
  CHECK(used.has_gradient());
  CHECK_FALSE(unused.has_gradient());
  CHECK_FALSE(aside.has_gradient());
}

TEST_CASE("a second sweep of one record starts anew") {
  Tape<double> tape;
  const auto x = normal_tensor({2, 3});
  const Var<double> v = tape.variable(x);
  const Var<double> y = mean(v);
  tape.backward(y, 6);
  CHECK(v.gradient().data()[0] == Approx(1));
  tape.backward(y, 12);
  CHECK(v.gradient().data()[0] == Approx(2));
}

TEST_CASE("log_probability is pick of log_softmax, with its gradient", "[ops]") {
  for (const Shape& shape : row_shapes) {
    const auto rows = static_cast<int>(shape.back());
    std::vector<int> index(shape.front());
    for (std::size_t b = 0; b < index.size(); ++b) index[b] = static_cast<int>(b * 2 + 1) % rows;
    if (shape.size() < 2) continue;
    CHECK(check_operation("log_probability", {normal_tensor(shape)},
                          [&](auto&, auto& x) { return log_probability(x[0], index); }) == "");
    Tape<double> tape;
    const Tensor<double> x = normal_tensor(shape, 4, 3);
    const std::vector<double> one = elements(log_probability(tape.variable(x), index));
    const std::vector<double> two = elements(pick(log_softmax(tape.variable(x)), index));
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == Approx(two[i]).epsilon(1e-14));
  }
}

TEST_CASE("log_probability stays finite, and has a gradient, at logits of 1e4", "[ops]") {
  Tape<float> tape;
  Tensor<float> x;
  x.resize(TensorShape{1, 3});
  x.data()[0] = -1e4F, x.data()[1] = 1e4F, x.data()[2] = 0;
  const std::vector<int> index{0};
  const Var<float> logits = tape.variable(x);
  const Var<float> y = log_probability(logits, index);
  tape.backward(mean(y));
  CHECK(y.value().data()[0] == -2e4F);
  const float* g = logits.gradient().data();
  CHECK(std::vector<float>(g, g + 3) == std::vector<float>{1, -1, 0});
}

TEST_CASE("softmax and its logarithms in float are within a few roundings of double, whatever the length of the row",
          "[ops]") {
  for (const std::size_t length : {1, 3, 16, 20, 64, 65, 200}) {
    CAPTURE(length);
    const Tensor<float> x = normal_tensor<float>({5, length}, length, 8);
    Tensor<double> same;
    same.resize(x.shape());
    std::copy_n(x.data(), x.size(), same.data());
    Tape<float> tape;
    Tape<double> reference;
    const Tensor<float>& found = softmax(tape.variable(x)).value();
    const Tensor<double>& expected = softmax(reference.variable(same)).value();
    const Tensor<float>& found_log = log_softmax(tape.variable(x)).value();
    const Tensor<double>& expected_log = log_softmax(reference.variable(same)).value();
    for (std::size_t i = 0; i < x.size(); ++i) {
      // A score of 20 in float is known to 1e-6, and so is the logarithm of its exponential.
      CHECK(static_cast<double>(found.data()[i]) == Approx(expected.data()[i]).epsilon(6e-6).margin(1e-37));
      CHECK(static_cast<double>(found_log.data()[i]) == Approx(expected_log.data()[i]).margin(6e-6));
    }
  }
}

TEST_CASE("what is not a number stays not a number in softmax and logsumexp", "[ops]") {
  Tape<float> tape;
  Tensor<float> x;
  x.resize(TensorShape{1, 20});
  std::fill_n(x.data(), 20, 1.0F);
  for (const std::size_t place : {0, 7, 19}) {
    x.data()[place] = std::nanf("");
    CHECK(std::isnan(logsumexp(tape.variable(x)).scalar()));
    CHECK(std::isnan(softmax(tape.variable(x)).value().data()[3]));
    x.data()[place] = 1;
  }
}
