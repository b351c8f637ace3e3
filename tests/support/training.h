// Small training jobs on built-in shapes, for the tests of what trains and evaluates.
#pragma once

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "fcam/data/shapes.h"
#include "fcam/training/trainer.h"

namespace fcam::test {

/// `count` mosaics of m shapes, three classes of foreground, drawn from so many images.
inline Mosaics shapes_mosaics(std::size_t count, std::size_t m = 3, Split split = Split::train,
                              std::size_t images = 300) {
  return Mosaics(make_shapes(1, split, images), {.patches = m, .count = count, .split = split});
}

/// A model of those shapes.
template <class T = float>
Model<T> shapes_model(const std::string& networks = "small") {
  return Model<T>({3, 16, 16}, 3, {.focus = networks, .classify = networks});
}

/// `count` bags of m patches that are one number each, 0, 1, ..., with labels 0, 1, 2, 0, ... and positions 0, 1, ...
inline Mosaics numbered_bags(std::size_t count, std::size_t m, bool with_positions = true) {
  std::vector<float> values(count * m);
  std::iota(values.begin(), values.end(), 0.0F);
  std::vector<int> labels, z;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<int>(i % 3));
    if (with_positions) z.push_back(static_cast<int>(i % m));
  }
  return Mosaics::from_bags(Images({1}, values, std::vector<int>(values.size()), {"patch"}), m, labels, z,
                            {"a", "b", "c"});
}

/// A linear model of those bags.
template <class T = float>
Model<T> numbered_model() {
  return Model<T>({1}, 3, {.focus = "linear", .classify = "linear"});
}

/// 0, 1, ..., count - 1.
inline std::vector<std::size_t> first_indices(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

template <class T = float>
LossFunction<T> named_loss(const std::string& name) {
  return loss_function<T>(find_loss(name));
}

const std::vector<std::string> loss_names{"sa", "ha", "lv"};

/// A model of shapes and its trainer.
struct Run {
  explicit Run(const LossFunction<float>& loss, const TrainerOptions& options = {})
      : model(shapes_model()), trainer(model, loss, options) {}
  explicit Run(const std::string& loss, const TrainerOptions& options = {}) : Run(named_loss(loss), options) {}

  bool train(const Mosaics& mosaics) { return trainer.run(mosaics, nullptr, nullptr); }

  Model<float> model;
  Trainer<float> trainer;
};

template <class T>
bool same_bits(const Buffer<T>& a, const Buffer<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
bool same_bits(const Model<T>& a, const Model<T>& b) {
  return same_bits(a.focus.weights(), b.focus.weights()) && same_bits(a.classify.weights(), b.classify.weights());
}

/// Whether all numbers of two sets of metrics are the same.
inline bool same_numbers(const Metrics& a, const Metrics& b) {
  const auto numbers = [](const Metrics& m) {
    std::vector<double> all{m.loss, m.accuracy, m.ftpt, m.ffpt, m.ftpf, m.ffpf, m.focus_mean, m.focus_entropy, m.saif};
    for (std::size_t r = 0; r < m.heat_map.bins(); ++r) {
      for (std::size_t c = 0; c < m.heat_map.bins(); ++c) all.push_back(m.heat_map.at(r, c));
    }
    return all;
  };
  return a.n == b.n && numbers(a) == numbers(b);
}

}  // namespace fcam::test
