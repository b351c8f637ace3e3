// Random batches for tests of models and losses.
#pragma once

#include "fcam/attention/model.h"
#include "support/gradients.h"

namespace fcam::test {

/// `size` mosaics of m patches with random content, labels and positions.
template <class T = double>
Batch<T> random_batch(std::size_t size, std::size_t m, const Shape& patch, int classes, std::uint64_t seed = 1) {
  Shape shape{size, m};
  shape.insert(shape.end(), patch.begin(), patch.end());
  Batch<T> batch{.x = normal_tensor<T>(shape, seed), .label = {}, .z = {}};
  Random random(seed, "test labels");
  for (std::size_t b = 0; b < size; ++b) {
    batch.label.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(classes))));
    batch.z.push_back(static_cast<int>(random.below(m)));
    batch.index.push_back(b);
  }
  return batch;
}

}  // namespace fcam::test
