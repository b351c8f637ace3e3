// Optimisers over a flat range of weights, with PyTorch's update rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fcam/base/tensor.h"

namespace fcam {

struct OptimizerOptions {
  enum class Kind { sgd, adam };
  Kind kind = Kind::sgd;
  double learning_rate = 0.05;
  double momentum = 0.9;    ///< sgd: v <- momentum v + g, w <- w - learning_rate v
  double weight_decay = 0;  ///< sgd: g + weight_decay w instead of g; adam: w <- (1 - learning_rate weight_decay) w
                            ///< first (AdamW, Loshchilov and Hutter 2019)
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam (Kingma and Ba 2015), bias corrected
};

/// An optimiser of `size` weights. Ranges of one step are independent: several threads may update different ones.
/// Instantiated for float and double.
template <class T = float>
class Optimizer {
 public:
  Optimizer(std::size_t size, const OptimizerOptions& options);

  /// Begins a step; every weight is then updated once.
  void begin_step() { ++steps_; }
  /// Updates weights [first, first + count); `weights` and `gradient` point to the first of the range.
  void update(std::size_t first, std::size_t count, T* weights, const T* gradient);

  const OptimizerOptions& options() const { return options_; }
  void set_learning_rate(double learning_rate) { options_.learning_rate = learning_rate; }

  /// Goes back to where it was before the first step.
  void forget();

  /// All that a resume needs: steps taken and running averages, each as long as the weights, by name
  /// ("momentum", or "mean" and "square").
  std::uint64_t steps() const { return steps_; }
  void set_steps(std::uint64_t steps) { steps_ = steps; }
  struct Average {
    std::string name;
    Buffer<T> values;
  };
  std::vector<Average>& averages() { return averages_; }
  const std::vector<Average>& averages() const { return averages_; }

 private:
  OptimizerOptions options_;
  std::uint64_t steps_ = 0;
  std::vector<Average> averages_;
};

}  // namespace fcam
