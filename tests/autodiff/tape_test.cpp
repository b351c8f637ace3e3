#include "fcam/autodiff/tape.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradients.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// A new operation, as a user would write one: x -> factor x^2, counting its backward sweeps.
Var<double> scaled_square(Var<double> x, double factor, int& sweeps) {
  Node<double>& node = x.tape().record({x}, x.value().shape(), [](Node<double>& n) {
    ++*static_cast<int*>(n.state);
    const double *g = n.gradient.data(), *in = n.input(0).value().data();
    n.input(0).contribute([&](std::size_t i) { return 2 * n.constant * in[i] * g[i]; });
  });
  node.constant = factor;
  node.state = &sweeps;
  for (std::size_t i = 0; i < x.value().size(); ++i) {
    node.own_value.data()[i] = factor * x.value().data()[i] * x.value().data()[i];
  }
  return Var<double>(node);
}

std::vector<double> elements(const Tensor<double>& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace

TEST_CASE("recording the same operations again reuses nodes, values and gradients in place", "[autodiff]") {
  const Tensor<double> x = normal_tensor({4, 3});
  Tape<double> tape;
  std::vector<const void*> places;
  for (int pass = 0; pass < 3; ++pass) {
    tape.clear();
    const auto in = tape.variable(x);
    const auto y = softmax(in);
    tape.backward(mean(y * y));
    const std::vector<const void*> now{&y.node(), y.value().data(), y.gradient().data(), in.gradient().data()};
    if (pass > 0) CHECK(now == places);
    places = now;
  }
}

TEST_CASE("a smaller value reuses the memory of a larger one, and a larger one again", "[autodiff]") {
  const Tensor<double> large = normal_tensor({8, 5}), small = normal_tensor({3, 5});
  Tape<double> tape;
  const auto place_of = [&](const Tensor<double>& x) {
    tape.clear();
    const auto y = softmax(tape.variable(x));
    CHECK(shape_of(y.value()) == shape_of(x));
    return y.value().data();
  };
  const double* const place = place_of(large);
  CHECK(place_of(small) == place);
  CHECK(place_of(large) == place);
}

TEST_CASE("values stay where they are while the record grows", "[autodiff]") {
  const Tensor<double> x = normal_tensor({2, 2});
  Tape<double> tape;
  const auto first = exp(tape.variable(x));
  const double* const place = first.value().data();
  auto last = first;
  for (int i = 0; i < 1000; ++i) last = last + first;
  CHECK(first.value().data() == place);
  CHECK(last.value().data()[3] == Approx(1001 * std::exp(x.data()[3])).epsilon(1e-12));
}

TEST_CASE("a leaf is somebody else's tensor, seen and not copied", "[autodiff]") {
  Tensor<double> x = normal_tensor({3});
  Tape<double> tape;
  const auto leaf = tape.constant(x), variable = tape.variable(x);
  CHECK(&leaf.value() == &x);
  CHECK(&variable.value() == &x);
  x.data()[1] = 42;
  CHECK(scale(leaf, 2.0).value().data()[1] == 84);
}

TEST_CASE("a sweep leaves the tensors of leaves as they are", "[autodiff]") {
  const Tensor<double> x = normal_tensor({3, 2});
  const auto before = elements(x);
  Tape<double> tape;
  tape.backward(mean(softmax(tape.variable(x))));
  CHECK(elements(x) == before);
}

TEST_CASE("a variable gets a gradient, a constant none", "[autodiff]") {
  const Tensor<double> x = normal_tensor({3}), w = normal_tensor({3}, 2);
  Tape<double> tape;
  const auto variable = tape.variable(x), constant = tape.constant(w);
  tape.backward(mean(variable * constant));
  CHECK(variable.has_gradient());
  CHECK_FALSE(constant.has_gradient());
  for (std::size_t i = 0; i < 3; ++i) CHECK(variable.gradient().data()[i] == Approx(w.data()[i] / 3).epsilon(1e-14));
}

TEST_CASE("the seed of a sweep scales every gradient", "[autodiff]") {
  const Tensor<double> x = normal_tensor({2, 3});
  Tape<double> tape;
  const auto in = tape.variable(x);
  const auto y = mean(softmax(in) * in);
  tape.backward(y);
  const auto one = elements(in.gradient());
  tape.backward(y, 0.25);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(in.gradient().data()[i] == Approx(one[i] / 4).epsilon(1e-14));
}

TEST_CASE("after clear nothing is left of the gradients of the record before", "[autodiff]") {
  const Tensor<double> x = normal_tensor({3});
  Tape<double> tape;
  tape.backward(mean(tape.variable(x)));
  tape.clear();
  const auto leaf = tape.variable(x);
  CHECK_FALSE(leaf.has_gradient());
  tape.backward(mean(scale(leaf, 3.0)));
  CHECK(leaf.gradient().data()[0] == Approx(1).epsilon(1e-14));
}

TEST_CASE("another record after clear has its own shapes and gradients, whatever the buffers held", "[autodiff]") {
  const Tensor<double> x = normal_tensor({4, 3}), y = normal_tensor({2, 5}, 2);
  Tape<double> used, fresh;
  used.backward(mean(logsumexp(used.variable(x))));
  used.clear();
  used.poison();
  const auto gradient = [&](Tape<double>& tape) {
    const auto in = tape.variable(y);
    tape.backward(mean(sum(in * softmax(in))));
    return elements(in.gradient());
  };
  CHECK(gradient(used) == gradient(fresh));
}

TEST_CASE("an operation of one's own takes part in a record through its value and its backward", "[autodiff]") {
  int sweeps = 0;
  CHECK(check_operation("1.5 x^2", {normal_tensor({4, 3})},
                        [&](auto&, auto& x) { return scaled_square(softmax(x[0]), 1.5, sweeps); }) == "");
  CHECK(sweeps == 2);
}

TEST_CASE("an operation that does not lead to the output is not swept", "[autodiff]") {
  const Tensor<double> x = normal_tensor({3});
  Tape<double> tape;
  int sweeps = 0;
  const auto in = tape.variable(x);
  const auto aside = scaled_square(in, 1, sweeps);
  tape.backward(mean(in));
  CHECK(sweeps == 0);
  CHECK_FALSE(aside.has_gradient());
}

TEST_CASE("a reused node knows nothing of the operation that was there before", "[autodiff]") {
  const Tensor<double> x = normal_tensor({3});
  Tape<double> tape;
  int sweeps = 0;
  scaled_square(tape.variable(x), 7, sweeps);
  tape.clear();
  tape.variable(x);
  const Node<double>& node = tape.record({}, x.shape(), nullptr);
  CHECK(node.state == nullptr);
  CHECK(node.context == nullptr);
  CHECK(node.constant == 0);
  CHECK_FALSE(node.needs_gradient);
  CHECK(&node.value() == &node.own_value);
}
