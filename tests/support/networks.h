// Gradient checks of networks, layer by layer or whole.
#pragma once

#include <string>

#include "fcam/nn/network.h"
#include "support/gradients.h"

namespace fcam::test {

/// A network with random weights and biases, none of them zero.
inline Network<double> random_network(const std::string& layers, const Shape& input, std::size_t outputs,
                                      std::uint64_t seed = 3) {
  Network<double> network(parse_network(layers, Role::classify), Role::classify, input, outputs);
  Random random(seed, "test weights");
  for (double& weight : network.weights()) weight = 0.5 * random.normal();
  return network;
}

/// Checks the gradients of a network in its inputs and in its weights. Buffers are poisoned with NaN in between.
inline std::string check_network(const std::string& layers, const Shape& input, std::size_t count = 3,
                                 std::size_t outputs = 4) {
  Network<double> network = random_network(layers, input, outputs);
  Shape shape{count};
  shape.insert(shape.end(), input.begin(), input.end());
  Tensor<double> x = normal_tensor(shape, 5);
  const Tensor<double> direction = normal_tensor({count, outputs}, 7);
  Tape<double> tape;
  Workspace<double> workspace;
  Buffer<double> gradient(network.weights().size(), 0.0);
  Application<double> application{
      .network = &network, .workspace = &workspace, .gradient = &gradient, .activations = {}};
  const auto poison = [](Buffer<double>& buffer) { std::fill(buffer.begin(), buffer.end(), std::nan("")); };
  const auto record = [&] {
    tape.clear();
    const Var<double> in = tape.variable(x);
    return std::pair(in, weighted_sum(apply(application, in), direction));
  };
  Tensor<double> x_gradient;
  for (int pass = 0; pass < 2; ++pass) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    const auto [in, y] = record();
    tape.backward(y);
    x_gradient = in.gradient();
    tape.clear();
    tape.poison();
    for (auto& outputs_of_stage : application.activations.outputs) poison(outputs_of_stage);
    for (auto* buffer :
         {&workspace.columns, &workspace.map, &workspace.column_gradient, &workspace.result, &workspace.weight,
          &workspace.weight_gradient, &workspace.gradient_here, &workspace.gradient_before}) {
      poison(*buffer);
    }
  }
  const auto value = [&] { return record().second.scalar(); };
  std::string error =
      check_gradient(layers + ", input", {x.data(), x.size()}, {x_gradient.data(), x_gradient.size()}, value);
  if (error.empty()) error = check_gradient(layers + ", weights", network.weights(), Buffer<double>(gradient), value);
  return error;
}

}  // namespace fcam::test
