// Gradient descent on the population loss of the linear orthogonal setting with the library's own networks, losses and
// gradients: what the equations of dynamics/flow.h say of it can be checked against what it does.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fcam/attention/losses.h"
#include "fcam/attention/model.h"

namespace fcam {

/// Where the weights of linear networks without biases stand in the shape that the flow keeps them in
/// (docs/math.md, Why the weights keep their shape): W = mu (I - 11'/C), v = nu 1, nothing along the last axis.
struct LinearGaps {
  double mu = 0, nu = 0;  ///< of the point of that shape that is nearest
  double off_shape = 0;   ///< largest distance of a weight from it
};

/// f and g linear without biases, for C classes and patches of C + 1 numbers, with all weights zero. Throws UsageError
/// unless there are at least 2 classes.
Model<double> make_linear_model(std::size_t classes);
/// Puts the weights of such a model at a point of the shape.
void set_gaps(Model<double>& model, double mu, double nu);
/// Of the weights of such a model, or of weights or a gradient laid out as they are.
LinearGaps gaps_of(const Model<double>& model);
LinearGaps gaps_of(const Buffer<double>& focus, const Buffer<double>& classify);

/// The population's mosaics (make_linear_population) as one batch. Throws UsageError if it has more than ten million
/// numbers, or none.
Batch<double> linear_population_batch(std::size_t classes, std::size_t patches);

struct DescentOptions {
  std::size_t patches = 20, classes = 20;
  double step = 0.1;         ///< of plain gradient descent: the time of the flow that a step stands for
  std::size_t steps = 1000;  ///< to take
  std::size_t every = 100;   ///< steps between the points that are kept
};
struct DescentPoint {
  std::size_t step;
  LinearGaps gaps;
};

/// The path of gradient descent from zero weights, its start first and its end last. `on_step` is called after each
/// step with the number of them. Throws UsageError as the functions above, and where the step is not above 0 and
/// finite or `every` is 0; DivergedError if the weights stop being finite.
std::vector<DescentPoint> descend_population(const LossFunction<double>& loss, const DescentOptions& options,
                                             const std::function<void(std::size_t)>& on_step = nullptr);

}  // namespace fcam
