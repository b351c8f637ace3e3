#include "fcam/nn/fused.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "fcam/nn/padded_images.h"

namespace fcam {
namespace {

// Weights (filters, channels, kernel, kernel) as (filters, kernel, padded run), and the way back for their gradient.
template <class Visit>
void for_each_weight(const ImageStage& s, std::size_t padded_run, Visit&& visit) {
  std::size_t weight = 0;
  for (std::size_t f = 0; f < s.filters; ++f) {
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t ky = 0; ky < s.kernel; ++ky) {
        for (std::size_t kx = 0; kx < s.kernel; ++kx) {
          visit(weight++, (f * s.kernel + ky) * padded_run + kx * s.channels + c);
        }
      }
    }
  }
}

// Weights as (filter blocks, taps, filter_block), the taps in the order ky, kx, channel; zeros behind the last filter.
void pack_weights(const ConvKernels& kernels, const ImageStage& s, const float* weight, Buffer<float>& packed) {
  const std::size_t block = kernels.filter_block, window = s.kernel * s.kernel;
  packed.assign(kernels.padded_filters(s.filters) * s.taps(), 0.0f);
  for (std::size_t f = 0; f < s.filters; ++f) {
    float* const to = packed.data() + f / block * block * s.taps() + f % block;
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t k = 0; k < window; ++k) to[(k * s.channels + c) * block] = *weight++;
    }
  }
}

// Where the patches under the map pixels of each output pixel begin: (out_area, pool pool).
void list_places(const ImageStage& s, const ConvShape& shape, std::vector<std::uint32_t>& places) {
  places.clear();
  for (std::size_t o = 0; o < s.out_area(); ++o) {
    const std::size_t y = o / s.out_width * s.pool, x = o % s.out_width * s.pool;
    for (std::size_t q = 0; q < s.pool * s.pool; ++q) {
      places.push_back(static_cast<std::uint32_t>(shape.base(y + q / s.pool, x + q % s.pool)));
    }
  }
}

// 1 or 0 without a branch, which would be mispredicted half the time. NaN is not zero.
std::uint32_t is_not_zero(float x) { return (std::bit_cast<std::uint32_t>(x) << 1) != 0; }

// The gradient of one filter as entries for its weights: where the winner of each window lies, and the gradient there.
// `gradient` and `winner` point to the filter's number of the first output pixel. Returns how many entries there are.
std::size_t list_filter(const ImageStage& s, const float* gradient, const std::uint8_t* winner,
                        const std::uint32_t* places, GradientEntry* entries) {
  std::size_t count = 0;
  const std::size_t window = s.pool * s.pool, area = s.out_area();
  for (std::size_t o = 0; o < area; ++o) {
    const float g = gradient[o * s.filters];
    entries[count] = {places[o * window + (winner != nullptr ? winner[o * s.filters] : 0)], g};
    count += is_not_zero(g);
  }
  return count;
}

// The gradient of one window as entries for the input, a list for each place in it: filters and their gradients.
// Returns how long the lists are; list q begins at entries + q (filters + 1).
std::array<std::size_t, 4> list_window(const ImageStage& s, const float* gradient, const std::uint8_t* winner,
                                       GradientEntry* entries) {
  // Four counts of 16 bits in one register: counters in memory would wait for each other's stores.
  std::uint64_t counts = 0;
  for (std::size_t f = 0; f < s.filters; ++f) {
    const std::size_t place = winner != nullptr ? winner[f] : 0;
    const std::size_t count = counts >> (16 * place) & 0xffff;
    entries[place * (s.filters + 1) + count] = {static_cast<std::uint32_t>(f), gradient[f]};
    counts += std::uint64_t{is_not_zero(gradient[f])} << (16 * place);
  }
  return {counts & 0xffff, counts >> 16 & 0xffff, counts >> 32 & 0xffff, counts >> 48};
}

}  // namespace

void fused_forward(const ConvKernels& kernels, const ImageStage& s, std::size_t count, const float* in,
                   const float* weight, const float* bias, float* out, std::uint8_t* winner,
                   Workspace<float>& workspace) {
  assert(can_fuse(s));
  const PaddedImages images(s);
  const ConvShape shape = images.conv_shape();
  pack_weights(kernels, s, weight, workspace.weight);
  Buffer<float>& padded_bias = workspace.map;
  padded_bias.assign(kernels.padded_filters(s.filters), 0.0f);
  if (bias != nullptr) std::copy_n(bias, s.filters, padded_bias.data());
  images.clear(workspace.columns);
  for (std::size_t i = 0; i < count; ++i) {
    float* const image_out = out + i * s.out_size();
    kernels.forward(shape, images.load(in + i * s.in_size(), workspace.columns), workspace.weight.data(),
                    padded_bias.data(), start_output(s, image_out, workspace.result),
                    s.pool > 1 ? winner + i * s.out_size() : nullptr);
    finish_output(s, workspace.result, image_out);
  }
}

void fused_backward(const ConvKernels& kernels, const ImageStage& s, std::size_t count, const float* in,
                    const float* weight, const float* out, const std::uint8_t* winner, const float* out_gradient,
                    StageGradients<float> gradients, Workspace<float>& workspace) {
  assert(can_fuse(s));
  const PaddedImages images(s);
  const ConvShape shape = images.conv_shape();
  const std::size_t padded_run = kernels.padded_run(shape.run()), filter_size = s.kernel * padded_run;
  const std::size_t area = s.out_area(), places = s.pool * s.pool;
  workspace.result.resize(s.out_size());
  images.clear(workspace.columns);
  if (gradients.weight != nullptr) workspace.weight_gradient.assign(s.filters * filter_size, 0.0f);
  if (gradients.in != nullptr) {
    workspace.weight.assign(s.filters * filter_size, 0.0f);
    for_each_weight(s, padded_run, [&](std::size_t from, std::size_t to) { workspace.weight[to] = weight[from]; });
    if (!images.in_place()) workspace.column_gradient.resize(images.size() + ConvKernels::slack);
  }
  list_places(s, shape, workspace.places);
  // An entry is written before it is known to count, so there is room for one more.
  workspace.entries.resize(std::max(area + 1, places * (s.filters + 1)));
  GradientEntry* const entries = workspace.entries.data();

  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * s.out_size();
    const float* const gradient = rectified_gradient(s, out + at, out_gradient + at, workspace.result);
    const std::uint8_t* const image_winner = s.pool > 1 ? winner + at : nullptr;
    if (gradients.weight != nullptr) {
      const float* const image = images.load(in + i * s.in_size(), workspace.columns);
      const Windows windows{.image = image,
                            .gradient = gradient,
                            .winner = image_winner,
                            .places = workspace.places.data(),
                            .weight_gradient = workspace.weight_gradient.data()};
      const bool done = kernels.add_small_patches(shape, windows);
      for (std::size_t f = 0; f < s.filters && !done; ++f) {
        const std::size_t found = list_filter(s, gradient + f, image_winner != nullptr ? image_winner + f : nullptr,
                                              workspace.places.data(), entries);
        kernels.add_patches(shape, image, entries, found, workspace.weight_gradient.data() + f * filter_size);
      }
    }
    if (gradients.bias != nullptr) add_bias_gradient(s, gradient, gradients.bias);
    if (gradients.in == nullptr) continue;
    float* const image_gradient = images.in_place() ? gradients.in + i * s.in_size() : workspace.column_gradient.data();
    std::fill_n(image_gradient, images.size(), 0.0f);
    for (std::size_t o = 0; o < area; ++o) {
      const std::array<std::size_t, 4> counts = list_window(
          s, gradient + o * s.filters, image_winner != nullptr ? image_winner + o * s.filters : nullptr, entries);
      for (std::size_t q = 0; q < places; ++q) {
        if (counts[q] == 0) continue;
        kernels.add_filters(shape, workspace.weight.data(), entries + q * (s.filters + 1), counts[q],
                            image_gradient + workspace.places[o * places + q]);
      }
    }
    if (!images.in_place()) images.store(image_gradient, gradients.in + i * s.in_size());
  }
  if (gradients.weight != nullptr) {
    for_each_weight(s, padded_run,
                    [&](std::size_t to, std::size_t from) { gradients.weight[to] += workspace.weight_gradient[from]; });
  }
}

}  // namespace fcam
