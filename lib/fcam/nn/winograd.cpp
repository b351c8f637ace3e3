#include "fcam/nn/winograd.h"

#include <algorithm>
#include <cassert>

#include "fcam/nn/padded_images.h"

namespace fcam {
namespace {

constexpr std::size_t side = 4, reach = 6, points = reach * reach, window = 9;

std::size_t tiles_down(const ImageStage& s) { return (s.map_height() + side - 1) / side; }
std::size_t tiles_across(const ImageStage& s) { return (s.map_width() + side - 1) / side; }

// Images large enough for whole tiles.
PaddedImages tiled(const ImageStage& s) {
  constexpr std::size_t border = reach - side;
  return PaddedImages(s, side * tiles_down(s) + border, side * tiles_across(s) + border);
}

// Images are worked on in groups: enough tiles for the products to run well, few enough to stay in the second-level
// cache.
struct Groups {
  explicit Groups(const ImageStage& s)
      : tiles(tiles_down(s) * tiles_across(s)), images(std::max<std::size_t>(1, 72 / tiles)) {}
  std::size_t tiles;   // of an image
  std::size_t images;  // of a group
  // Numbers from one point of a group to the next; not a power of two, which would put all points into the same lines
  // of the cache.
  std::size_t step(std::size_t channels) const { return images * tiles * channels + 16; }
  std::size_t size(std::size_t channels) const { return points * step(channels) + ConvKernels::slack; }
};

// Weights (filters, channels, 9) and what the transform takes: (9, channels, filters), or (9, filters, channels) where
// channels are the columns.
template <class Visit>
void for_each_weight(const ImageStage& s, bool channels_last, Visit&& visit) {
  const std::size_t count = s.filters * s.channels;
  std::size_t weight = 0;
  for (std::size_t f = 0; f < s.filters; ++f) {
    for (std::size_t c = 0; c < s.channels; ++c) {
      const std::size_t at = channels_last ? f * s.channels + c : c * s.filters + f;
      for (std::size_t k = 0; k < window; ++k) visit(weight++, k * count + at);
    }
  }
}

// The weights at the points.
void transform_weights(const ConvKernels& kernels, const ImageStage& s, const float* weight, bool channels_last,
                       Buffer<float>& ordered, Buffer<float>& at_points) {
  const std::size_t count = s.filters * s.channels;
  ordered.resize(window * count);
  at_points.resize(points * count);
  for_each_weight(s, channels_last, [&](std::size_t from, std::size_t to) { ordered[to] = weight[from]; });
  kernels.weights_to_points(count, ordered.data(), at_points.data());
}

// For each point: (tiles, depth) times its matrix of weights, (depth, columns).
void multiply(const ConvKernels& kernels, std::size_t tiles, std::size_t depth, std::size_t columns, const float* a,
              std::size_t a_step, const float* weights, float* out, std::size_t out_step) {
  const Product product{
      .rows = tiles, .depth = depth, .columns = columns, .a_row = depth, .a_column = 1, .accumulate = false};
  for (std::size_t e = 0; e < points; ++e) {
    kernels.product(product, a + e * a_step, weights + e * depth * columns, out + e * out_step);
  }
}

}  // namespace

bool can_use_winograd(const ConvKernels& kernels, const ImageStage& s) {
  if (s.kernel != 3 || s.stride != 1 || s.channels % kernels.filter_block != 0 ||
      s.filters % kernels.filter_block != 0 || s.channels < 16 || s.filters < 16) {
    return false;
  }
  // Products that it saves of those of the map, against what the transforms cost.
  return points * tiles_down(s) * tiles_across(s) * 3 <= window * s.map_area() * 2;
}

void winograd_forward(const ConvKernels& kernels, const ImageStage& s, std::size_t count, const float* in,
                      const float* weight, const float* bias, float* out, std::uint8_t* winner,
                      Workspace<float>& workspace) {
  assert(can_use_winograd(kernels, s));
  const PaddedImages images = tiled(s);
  const ConvShape shape = images.conv_shape();
  const Groups groups(s);
  auto& w = workspace.winograd;
  transform_weights(kernels, s, weight, false, w.ordered_weights, w.weights);
  images.clear(workspace.columns);
  const std::size_t in_step = groups.step(s.channels), out_step = groups.step(s.filters);
  w.inputs.resize(groups.size(s.channels));
  w.outputs.resize(groups.size(s.filters));
  for (std::size_t first = 0; first < count; first += groups.images) {
    const std::size_t here = std::min(groups.images, count - first);
    for (std::size_t i = 0; i < here; ++i) {
      kernels.input_to_points(shape, images.load(in + (first + i) * s.in_size(), workspace.columns),
                              w.inputs.data() + i * groups.tiles * s.channels, in_step);
    }
    multiply(kernels, here * groups.tiles, s.channels, s.filters, w.inputs.data(), in_step, w.weights.data(),
             w.outputs.data(), out_step);
    for (std::size_t i = 0; i < here; ++i) {
      const std::size_t at = (first + i) * s.out_size();
      kernels.output_from_points(shape, w.outputs.data() + i * groups.tiles * s.filters, out_step, bias,
                                 start_output(s, out + at, workspace.result), s.pool > 1 ? winner + at : nullptr);
      finish_output(s, workspace.result, out + at);
    }
  }
}

void winograd_backward(const ConvKernels& kernels, const ImageStage& s, std::size_t count, const float* in,
                       const float* weight, const float* out, const std::uint8_t* winner, const float* out_gradient,
                       StageGradients<float> gradients, Workspace<float>& workspace) {
  assert(can_use_winograd(kernels, s));
  const PaddedImages images = tiled(s);
  const ConvShape shape = images.conv_shape();
  const Groups groups(s);
  auto& w = workspace.winograd;
  const std::size_t in_step = groups.step(s.channels), out_step = groups.step(s.filters);
  const std::size_t weights = s.filters * s.channels;
  workspace.result.resize(s.out_size());
  w.outputs.resize(groups.size(s.filters));
  if (gradients.weight != nullptr) {
    images.clear(workspace.columns);
    w.inputs.resize(groups.size(s.channels));
    w.weight_gradients.assign(points * weights, 0.0f);
  }
  if (gradients.in != nullptr) {
    transform_weights(kernels, s, weight, true, w.ordered_weights, w.weights);
    w.input_gradients.resize(groups.size(s.channels));
    if (!images.in_place()) workspace.column_gradient.resize(images.size() + ConvKernels::slack);
  }
  for (std::size_t first = 0; first < count; first += groups.images) {
    const std::size_t here = std::min(groups.images, count - first), tiles = here * groups.tiles;
    for (std::size_t i = 0; i < here; ++i) {
      const std::size_t at = (first + i) * s.out_size();
      const float* const gradient = rectified_gradient(s, out + at, out_gradient + at, workspace.result);
      kernels.output_gradient_to_points(shape, gradient, s.pool > 1 ? winner + at : nullptr,
                                        w.outputs.data() + i * groups.tiles * s.filters, out_step);
      if (gradients.bias != nullptr) add_bias_gradient(s, gradient, gradients.bias);
    }
    if (gradients.weight != nullptr) {
      for (std::size_t i = 0; i < here; ++i) {
        kernels.input_to_points(shape, images.load(in + (first + i) * s.in_size(), workspace.columns),
                                w.inputs.data() + i * groups.tiles * s.channels, in_step);
      }
      const Product product{.rows = s.channels,
                            .depth = tiles,
                            .columns = s.filters,
                            .a_row = 1,
                            .a_column = s.channels,
                            .accumulate = true};
      for (std::size_t e = 0; e < points; ++e) {
        kernels.product(product, w.inputs.data() + e * in_step, w.outputs.data() + e * out_step,
                        w.weight_gradients.data() + e * weights);
      }
    }
    if (gradients.in == nullptr) continue;
    multiply(kernels, tiles, s.filters, s.channels, w.outputs.data(), out_step, w.weights.data(),
             w.input_gradients.data(), in_step);
    for (std::size_t i = 0; i < here; ++i) {
      float* const image = gradients.in + (first + i) * s.in_size();
      float* const padded = images.in_place() ? image : workspace.column_gradient.data();
      std::fill_n(padded, images.size(), 0.0f);
      kernels.input_gradient_from_points(shape, w.input_gradients.data() + i * groups.tiles * s.channels, in_step,
                                         padded);
      if (!images.in_place()) images.store(padded, image);
    }
  }
  if (gradients.weight != nullptr) {
    w.ordered_weights.resize(window * weights);
    kernels.weights_from_points(weights, w.weight_gradients.data(), w.ordered_weights.data());
    for_each_weight(s, false,
                    [&](std::size_t to, std::size_t from) { gradients.weight[to] += w.ordered_weights[from]; });
  }
}

}  // namespace fcam
