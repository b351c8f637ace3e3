#include "fcam/nn/optimizer.h"

#include <algorithm>
#include <cmath>

namespace fcam {

template <class T>
Optimizer<T>::Optimizer(std::size_t size, const OptimizerOptions& options) : options_(options) {
  const auto add = [&](const char* name) { averages_.push_back({name, Buffer<T>(size, T(0))}); };
  if (options_.kind == OptimizerOptions::Kind::adam) {
    add("mean");
    add("square");
  } else {
    add("momentum");
  }
}

template <class T>
void Optimizer<T>::forget() {
  steps_ = 0;
  for (Average& average : averages_) std::fill(average.values.begin(), average.values.end(), T(0));
}

template <class T>
void Optimizer<T>::update(std::size_t first, std::size_t count, T* weights, const T* gradient) {
  if (options_.kind == OptimizerOptions::Kind::sgd) {
    const T rate = static_cast<T>(options_.learning_rate), momentum = static_cast<T>(options_.momentum);
    T* const velocity = averages_[0].values.data() + first;
    const T decay = static_cast<T>(options_.weight_decay);
    for (std::size_t i = 0; i < count; ++i) {
      velocity[i] = momentum * velocity[i] + (gradient[i] + decay * weights[i]);
      weights[i] -= rate * velocity[i];
    }
    return;
  }
  const auto steps = static_cast<double>(steps_);
  const double mean_correction = 1 - std::pow(options_.beta1, steps);
  const double square_correction = 1 - std::pow(options_.beta2, steps);
  const T rate = static_cast<T>(options_.learning_rate / mean_correction);
  const T square_scale = static_cast<T>(1 / std::sqrt(square_correction));
  const T beta1 = static_cast<T>(options_.beta1), beta2 = static_cast<T>(options_.beta2);
  const T epsilon = static_cast<T>(options_.epsilon);
  const T kept = static_cast<T>(1 - options_.learning_rate * options_.weight_decay);
  T* const mean = averages_[0].values.data() + first;
  T* const square = averages_[1].values.data() + first;
  for (std::size_t i = 0; i < count; ++i) {
    mean[i] = beta1 * mean[i] + (1 - beta1) * gradient[i];
    square[i] = beta2 * square[i] + (1 - beta2) * gradient[i] * gradient[i];
    weights[i] = kept * weights[i] - rate * mean[i] / (std::sqrt(square[i]) * square_scale + epsilon);
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace fcam
