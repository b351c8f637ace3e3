// Gradient checks of operations on a tape, for the tests of every folder that has some.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fcam/autodiff/gradient_check.h"
#include "fcam/autodiff/ops.h"
#include "fcam/base/random.h"

namespace fcam::test {

/// Standard normal numbers of that shape, the same at every run.
template <class T = double>
Tensor<T> normal_tensor(const Shape& shape, std::uint64_t seed = 1, double scale = 1) {
  Tensor<T> x;
  x.resize(TensorShape(shape.begin(), shape.end()));
  Random random(seed, "test");
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(scale * random.normal());
  return x;
}

using Operation = std::function<Var<double>(Tape<double>&, std::vector<Var<double>>&)>;

/// A random weighted sum of the elements of a value of any shape, so that every element's gradient matters.
inline Var<double> weighted_sum(Var<double> y, const Tensor<double>& weights) {
  return mean(y * y.tape().constant(weights));
}

/// Checks the gradient of an operation in all elements of all its inputs. Buffers are poisoned with NaN in between.
inline std::string check_operation(const std::string& name, std::vector<Tensor<double>> inputs,
                                   const Operation& operation, const GradientCheckOptions& options = {}) {
  Tape<double> tape;
  Tensor<double> weights;
  const auto record = [&](std::vector<Var<double>>& leaves) {
    tape.clear();
    leaves.clear();
    for (const auto& input : inputs) leaves.push_back(tape.variable(input));
    const Var<double> y = operation(tape, leaves);
    if (weights.shape() != y.value().shape()) weights = normal_tensor(shape_of(y.value()), 7);
    return weighted_sum(y, weights);
  };
  std::vector<Var<double>> leaves;
  for (int pass = 0; pass < 2; ++pass) {
    tape.backward(record(leaves));
    if (pass == 0) {
      tape.clear();
      tape.poison();
    }
  }
  std::vector<std::vector<double>> gradients;
  for (const auto& leaf : leaves) {
    if (!leaf.has_gradient()) return name + ": an input got no gradient";
    gradients.emplace_back(leaf.gradient().data(), leaf.gradient().data() + leaf.gradient().size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string error = check_gradient(
        name + ", input " + std::to_string(i), {inputs[i].data(), inputs[i].size()}, gradients[i],
        [&] { return record(leaves).scalar(); }, options);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace fcam::test
