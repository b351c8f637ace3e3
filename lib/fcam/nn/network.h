// A network of layers: its shapes, its weights, and its application to many inputs as one node of a tape.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fcam/autodiff/tape.h"
#include "fcam/base/tensor.h"
#include "fcam/nn/kernels.h"
#include "fcam/nn/network_spec.h"

namespace fcam {

/// One weight or bias of a network.
struct Parameter {
  std::string name;    ///< "conv1.weight": numbered per kind in order, the output layer is the last fc
  Shape shape;         ///< conv (out,in,k,k), fc (out,in), bias (out): PyTorch's layouts
  std::size_t offset;  ///< of its first number among all weights of the network
  bool is_bias = false;
};

/// A feed-forward network from items of one shape to `outputs` numbers. Immutable but for its weights.
template <class T = float>
class Network {
 public:
  /// Resolves the shapes layer by layer. Throws UsageError naming the layer and both shapes where one does not fit.
  /// Weights are zero until initialise() or somebody writes them.
  Network(const NetworkSpec& spec, Role role, Shape input, std::size_t outputs);

  const NetworkSpec& spec() const { return spec_; }
  Role role() const { return role_; }
  const Shape& input_shape() const { return input_; }
  std::size_t outputs() const { return outputs_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// All weights in the order of parameters().
  Buffer<T>& weights() { return weights_; }
  const Buffer<T>& weights() const { return weights_; }

  /// Floating point operations of the products with the weights in a forward pass of one input.
  double flops() const;

  /// Xavier normal weights (standard deviation sqrt(2 / (fan in + fan out)), Glorot and Bengio 2010), zero biases; a
  /// function of seed, role and position of the weight alone.
  void initialise(std::uint64_t seed);

  /// What a forward pass leaves for the backward pass. Reused, it allocates only when it grows.
  struct Activations {
    std::vector<Buffer<T>> outputs;             // of each stage
    std::vector<Buffer<std::uint8_t>> winners;  // of pooling, by stage
  };

  /// Outputs for `count` inputs: in (count, input_shape...) -> (count, outputs), inside `activations`.
  const T* forward(std::size_t count, const T* in, Activations& activations, Workspace<T>& workspace) const;

  /// From the gradient of the outputs (count, outputs): adds to `gradient` (laid out like weights()) and assigns
  /// `in_gradient` (count, input_shape...). Either may be null.
  void backward(std::size_t count, const T* in, const Activations& activations, const T* out_gradient, T* gradient,
                T* in_gradient, Workspace<T>& workspace) const;

 private:
  struct Stage {
    std::string name;  // of its first layer under the full name of its weights: "focus.conv1"
    std::variant<ImageStage, LinearStage> shape;
    std::ptrdiff_t weight = -1, bias = -1;  // offsets, -1 where there is none
    std::size_t in_size, out_size;

    /// Floating point operations of one product of `count` inputs with the weights.
    double flops(std::size_t count) const {
      return 2.0 * static_cast<double>(count * std::visit([](const auto& s) { return s.multiply_adds(); }, shape));
    }
  };
  void add_parameter(const std::string& name, Shape shape, bool is_bias, std::ptrdiff_t& offset);

  NetworkSpec spec_;
  Role role_;
  Shape input_;
  std::size_t outputs_;
  std::vector<Stage> stages_;
  std::vector<Parameter> parameters_;
  Buffer<T> weights_;
};

/// A network in use on a tape: where its activations and its weights' gradient go. Reuse the same object at every step.
template <class T>
struct Application {
  const Network<T>* network = nullptr;
  Workspace<T>* workspace = nullptr;
  Buffer<T>* gradient = nullptr;  ///< added to in the backward sweep; null: the weights' gradient is not needed
  typename Network<T>::Activations activations;
};

/// The network applied to each item of x: (leading..., input_shape...) -> (leading..., outputs); scores of a focus
/// network have no axis of their own, (leading...), where `leading` has one. One node; both objects must outlive the
/// backward sweep. The gradient with respect to x is computed only where x needs one.
template <class T>
Var<T> apply(Application<T>& application, Var<T> x);

}  // namespace fcam
