#include "fcam/nn/kernels.h"

#include <algorithm>
#include <type_traits>

#include "fcam/base/blas.h"
#include "fcam/nn/fused.h"
#include "fcam/nn/winograd.h"

namespace fcam {
namespace {

// Images that share one matrix product: enough columns for it to run well, few enough to stay in the second-level
// cache.
std::size_t block_size(const ImageStage& s, std::size_t scalar_size) {
  constexpr std::size_t cache_bytes = 400 << 10;
  return std::max<std::size_t>(1, cache_bytes / (s.taps() * s.map_area() * scalar_size));
}

// max(x, 0) that passes NaN on.
template <class T>
T rectify(T x) {
  return x < 0 ? T(0) : x;
}

// (rows, columns) -> (columns, rows)
template <class T>
void transpose(const T* in, std::size_t rows, std::size_t columns, T* out) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
  }
}

// First and past-the-last output whose tap `offset` falls inside an input of `size`: input x stride + offset - padding.
struct Range {
  std::size_t first, last;
};
Range inside(const ImageStage& s, std::size_t offset, std::size_t size, std::size_t outputs) {
  const std::size_t first = offset >= s.padding ? 0 : (s.padding - offset + s.stride - 1) / s.stride;
  const std::size_t limit = size + s.padding;
  const std::size_t last = limit > offset ? (limit - offset + s.stride - 1) / s.stride : 0;
  return {std::min(first, outputs), std::clamp(last, std::min(first, outputs), outputs)};
}

// Planes: the columns are a matrix (taps, pixels of the map) whose rows are row_stride apart; a row of the map is a run
// of pixels `stride` apart in the image. Calls visit(column, image, length) for each run inside the image and
// fill(column, length) for each in the padding.
template <class Visit, class Fill>
void for_each_run_of_planes(const ImageStage& s, std::size_t row_stride, Visit&& visit, Fill&& fill) {
  const std::size_t rows = s.map_height(), columns = s.map_width();
  std::size_t tap_row = 0;
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t ky = 0; ky < s.kernel; ++ky) {
      const Range y_range = inside(s, ky, s.height, rows);
      for (std::size_t kx = 0; kx < s.kernel; ++kx, ++tap_row) {
        const Range x_range = inside(s, kx, s.width, columns);
        for (std::size_t y = 0; y < rows; ++y) {
          const std::size_t column = tap_row * row_stride + y * columns;
          if (y < y_range.first || y >= y_range.last || x_range.first == x_range.last) {
            fill(column, columns);
            continue;
          }
          const std::size_t image =
              (c * s.height + y * s.stride + ky - s.padding) * s.width + x_range.first * s.stride + kx - s.padding;
          fill(column, x_range.first);
          visit(column + x_range.first, image, x_range.last - x_range.first);
          fill(column + x_range.last, columns - x_range.last);
        }
      }
    }
  }
}

// Channels last: the columns are a matrix (pixels of the map, taps in the order ky, kx, channel); the taps of one ky
// are one run of contiguous numbers in the image. Calls as above.
template <class Visit, class Fill>
void for_each_run_of_pixels(const ImageStage& s, Visit&& visit, Fill&& fill) {
  const std::size_t run = s.kernel * s.channels;
  std::size_t column = 0;
  for (std::size_t y = 0; y < s.map_height(); ++y) {
    for (std::size_t x = 0; x < s.map_width(); ++x) {
      // taps of kx in [first, last) fall inside
      const std::size_t left = x * s.stride, first = std::min(s.kernel, left < s.padding ? s.padding - left : 0);
      const std::size_t last =
          std::max(first, std::min(s.kernel, s.width + s.padding > left ? s.width + s.padding - left : 0));
      for (std::size_t ky = 0; ky < s.kernel; ++ky, column += run) {
        const std::size_t row = y * s.stride + ky;
        if (row < s.padding || row >= s.height + s.padding || first == last) {
          fill(column, run);
          continue;
        }
        const std::size_t image = ((row - s.padding) * s.width + left + first - s.padding) * s.channels;
        fill(column, first * s.channels);
        visit(column + first * s.channels, image, (last - first) * s.channels);
        fill(column + last * s.channels, (s.kernel - last) * s.channels);
      }
    }
  }
}

// The matrix of what lies under the kernel, for `images` images, as the stage's layout has it.
template <class T>
MatrixView<const T> to_columns(const ImageStage& s, std::size_t images, const T* in, Buffer<T>& columns) {
  const std::size_t area = s.map_area(), pixels = images * area;
  for (std::size_t i = 0; i < images; ++i) {
    const T* const image = in + i * s.in_size();
    T* const first = columns.data() + i * (s.in_planes ? area : area * s.taps());
    const auto fill = [&](std::size_t column, std::size_t length) { std::fill_n(first + column, length, T(0)); };
    if (s.in_planes) {
      for_each_run_of_planes(
          s, pixels,
          [&](std::size_t column, std::size_t from, std::size_t length) {
            for (std::size_t k = 0; k < length; ++k) first[column + k] = image[from + k * s.stride];
          },
          fill);
    } else {
      for_each_run_of_pixels(
          s,
          [&](std::size_t column, std::size_t from, std::size_t length) {
            std::copy_n(image + from, length, first + column);
          },
          fill);
    }
  }
  if (s.in_planes) return transposed(matrix<const T>(columns.data(), s.taps(), pixels));
  return matrix<const T>(columns.data(), pixels, s.taps());
}

// The transpose of to_columns: every entry is added to the pixel it came from.
template <class T>
void from_columns(const ImageStage& s, std::size_t images, const T* columns, T* out) {
  const std::size_t area = s.map_area(), pixels = images * area;
  std::fill_n(out, images * s.in_size(), T(0));
  const auto skip = [](std::size_t, std::size_t) {};
  for (std::size_t i = 0; i < images; ++i) {
    T* const image = out + i * s.in_size();
    const T* const first = columns + i * (s.in_planes ? area : area * s.taps());
    if (s.in_planes) {
      for_each_run_of_planes(
          s, pixels,
          [&](std::size_t column, std::size_t to, std::size_t length) {
            for (std::size_t k = 0; k < length; ++k) image[to + k * s.stride] += first[column + k];
          },
          skip);
    } else {
      for_each_run_of_pixels(
          s,
          [&](std::size_t column, std::size_t to, std::size_t length) {
            for (std::size_t k = 0; k < length; ++k) image[to + k] += first[column + k];
          },
          skip);
    }
  }
}

// The weights as a matrix (filters, taps) in the order of the columns, and the way back for their gradient.
template <class T>
const T* order_weights(const ImageStage& s, const T* weight, Buffer<T>& ordered) {
  if (s.in_planes) return weight;
  ordered.resize(s.filters * s.taps());
  const std::size_t window = s.kernel * s.kernel;
  for (std::size_t f = 0; f < s.filters; ++f) {
    transpose(weight + f * s.taps(), s.channels, window, ordered.data() + f * s.taps());
  }
  return ordered.data();
}
template <class T>
void add_ordered_gradient(const ImageStage& s, const T* ordered, T* gradient) {
  const std::size_t window = s.kernel * s.kernel;
  for (std::size_t f = 0; f < s.filters; ++f) {
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t k = 0; k < window; ++k) *gradient++ += ordered[(f * window + k) * s.channels + c];
    }
  }
}

// The best of the pixels of one window, channel by channel: `map` points to its first pixel, rows `row` numbers apart.
template <class T>
void pool_window(const T* map, std::size_t pool, std::size_t row, std::size_t channels, T* best, std::uint8_t* winner) {
  std::copy_n(map, channels, best);
  std::fill_n(winner, channels, std::uint8_t(0));
  for (std::size_t i = 1; i < pool * pool; ++i) {
    const T* const pixel = map + i / pool * row + i % pool * channels;
    for (std::size_t c = 0; c < channels; ++c) {
      const bool better = (pixel[c] > best[c]) | (pixel[c] != pixel[c]);
      best[c] = better ? pixel[c] : best[c];
      winner[c] = better ? static_cast<std::uint8_t>(i) : winner[c];
    }
  }
}

// Pooling, bias and ReLU of one image: map (map_height, map_width, filters) -> out (out_height, out_width, filters).
// Adding the bias and ReLU are monotone, so the maximum can be taken first.
template <class T>
void finish(const ImageStage& s, const T* map, const T* bias, T* out, std::uint8_t* winner) {
  const std::size_t row = s.map_width() * s.filters;
  for (std::size_t y = 0; y < s.out_height; ++y) {
    for (std::size_t x = 0; x < s.out_width; ++x, out += s.filters) {
      const T* pixel = map + y * s.pool * row + x * s.pool * s.filters;
      if (s.pool > 1) {
        pool_window(pixel, s.pool, row, s.filters, out, winner);
        winner += s.filters;
        pixel = out;
      }
      for (std::size_t f = 0; f < s.filters; ++f) {
        const T value = bias != nullptr ? pixel[f] + bias[f] : pixel[f];
        out[f] = s.relu ? rectify(value) : value;
      }
    }
  }
}

// The gradient of one image's map from that of its output, ReLU already taken out: each winner gets it, the others
// nothing.
template <class T>
void unpool(const ImageStage& s, const T* out_gradient, const std::uint8_t* winner, T* map_gradient) {
  const std::size_t row = s.map_width() * s.filters, pool = s.pool;
  if (s.out_height * pool < s.map_height() || s.out_width * pool < s.map_width()) {
    std::fill_n(map_gradient, s.map_height() * row, T(0));  // the dropped border
  }
  for (std::size_t y = 0; y < s.out_height; ++y) {
    for (std::size_t x = 0; x < s.out_width; ++x, out_gradient += s.filters, winner += s.filters) {
      T* const window = map_gradient + y * pool * row + x * pool * s.filters;
      for (std::size_t i = 0; i < pool * pool; ++i) {
        T* const pixel = window + i / pool * row + i % pool * s.filters;
        for (std::size_t f = 0; f < s.filters; ++f) pixel[f] = winner[f] == i ? out_gradient[f] : T(0);
      }
    }
  }
}

}  // namespace

template <class T>
void forward(const ImageStage& s, std::size_t count, const T* in, const T* weight, const T* bias, T* out,
             std::uint8_t* winner, Workspace<T>& workspace) {
  if constexpr (std::is_same_v<T, float>) {
    if (workspace.kernels != nullptr && can_fuse(s)) {
      const auto run = can_use_winograd(*workspace.kernels, s) ? winograd_forward : fused_forward;
      return run(*workspace.kernels, s, count, in, weight, bias, out, winner, workspace);
    }
  }
  const std::size_t block = s.is_conv() ? std::min(count, block_size(s, sizeof(T))) : 1;
  const std::size_t map_size = s.map_area() * s.filters;
  workspace.columns.resize(s.taps() * block * s.map_area());
  workspace.map.resize(block * map_size);
  workspace.result.resize(s.out_size());
  const T* const ordered = order_weights(s, weight, workspace.weight);
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t images = std::min(block, count - first);
    const T* map = in + first * s.in_size();
    if (s.is_conv()) {
      gemm<T>(to_columns(s, images, map, workspace.columns), transposed(matrix(ordered, s.filters, s.taps())),
              matrix(workspace.map.data(), images * s.map_area(), s.filters));
      map = workspace.map.data();
    } else if (s.in_planes) {
      transpose(map, s.channels, s.map_area(), workspace.map.data());
      map = workspace.map.data();
    }
    for (std::size_t i = 0; i < images; ++i) {
      T* const image_out = out + (first + i) * s.out_size();
      T* const result = s.out_planes ? workspace.result.data() : image_out;
      finish(s, map + i * map_size, bias, result, s.pool > 1 ? winner + (first + i) * s.out_size() : nullptr);
      if (s.out_planes) transpose(result, s.out_area(), s.filters, image_out);
    }
  }
}

template <class T>
void backward(const ImageStage& s, std::size_t count, const T* in, const T* weight, const T* out,
              const std::uint8_t* winner, const T* out_gradient, StageGradients<T> gradients, Workspace<T>& workspace) {
  if constexpr (std::is_same_v<T, float>) {
    if (workspace.kernels != nullptr && can_fuse(s)) {
      const auto run = can_use_winograd(*workspace.kernels, s) ? winograd_backward : fused_backward;
      return run(*workspace.kernels, s, count, in, weight, out, winner, out_gradient, gradients, workspace);
    }
  }
  const std::size_t block = s.is_conv() ? std::min(count, block_size(s, sizeof(T))) : 1;
  const std::size_t map_size = s.map_area() * s.filters, column_count = s.taps() * block * s.map_area();
  workspace.columns.resize(column_count);
  workspace.column_gradient.resize(gradients.in != nullptr ? column_count : 0);
  workspace.map.resize(block * map_size);
  workspace.result.resize(2 * s.out_size());
  const T* const ordered = order_weights(s, weight, workspace.weight);
  const bool adds_ordered = gradients.weight != nullptr && !s.in_planes;
  if (adds_ordered) workspace.weight_gradient.assign(s.filters * s.taps(), T(0));
  T* const weight_gradient = adds_ordered ? workspace.weight_gradient.data() : gradients.weight;

  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t images = std::min(block, count - first), pixels = images * s.map_area();
    T* const map = workspace.map.data();
    for (std::size_t i = 0; i < images; ++i) {
      const std::size_t at = (first + i) * s.out_size();
      // The gradient after ReLU, in the layout of the output; then channels last; then before pooling.
      T* const here = s.pool == 1 && !s.out_planes ? map + i * map_size : workspace.result.data();
      T* const channels_last =
          s.pool == 1 ? map + i * map_size : workspace.result.data() + (s.out_planes ? s.out_size() : 0);
      for (std::size_t k = 0; k < s.out_size(); ++k) {
        here[k] = !s.relu || out[at + k] > 0 ? out_gradient[at + k] : T(0);
      }
      if (s.out_planes) transpose(here, s.filters, s.out_area(), channels_last);
      if (s.pool > 1) unpool(s, channels_last, winner + at, map + i * map_size);
    }
    if (!s.is_conv()) {
      if (gradients.in == nullptr) return;
      T* const image = gradients.in + first * s.in_size();
      if (s.in_planes) {
        transpose(map, s.map_area(), s.channels, image);
      } else {
        std::copy_n(map, map_size, image);
      }
      continue;
    }
    if (gradients.bias != nullptr) {
      for (std::size_t p = 0; p < pixels; ++p) {
        for (std::size_t f = 0; f < s.filters; ++f) gradients.bias[f] += map[p * s.filters + f];
      }
    }
    const auto map_gradient = matrix<const T>(map, pixels, s.filters);
    if (gradients.weight != nullptr) {
      gemm<T>(transposed(map_gradient), to_columns(s, images, in + first * s.in_size(), workspace.columns),
              matrix(weight_gradient, s.filters, s.taps()), Accumulate::yes);
    }
    if (gradients.in == nullptr) continue;
    if (s.in_planes) {
      gemm<T>(transposed(matrix(ordered, s.filters, s.taps())), transposed(map_gradient),
              matrix(workspace.column_gradient.data(), s.taps(), pixels));
    } else {
      gemm<T>(map_gradient, matrix(ordered, s.filters, s.taps()),
              matrix(workspace.column_gradient.data(), pixels, s.taps()));
    }
    from_columns(s, images, workspace.column_gradient.data(), gradients.in + first * s.in_size());
  }
  if (adds_ordered) add_ordered_gradient(s, weight_gradient, gradients.weight);
}

template <class T>
void forward(const LinearStage& s, std::size_t count, const T* in, const T* weight, const T* bias, T* out) {
  gemm<T>(matrix(in, count, s.inputs), transposed(matrix(weight, s.units, s.inputs)), matrix(out, count, s.units));
  for (std::size_t i = 0; i < count; ++i) {
    T* row = out + i * s.units;
    for (std::size_t u = 0; bias != nullptr && u < s.units; ++u) row[u] += bias[u];
    for (std::size_t u = 0; s.relu && u < s.units; ++u) row[u] = rectify(row[u]);
  }
}

template <class T>
void backward(const LinearStage& s, std::size_t count, const T* in, const T* weight, const T* out, T* out_gradient,
              StageGradients<T> gradients) {
  for (std::size_t k = 0; s.relu && k < count * s.units; ++k) out_gradient[k] = out[k] > 0 ? out_gradient[k] : T(0);
  for (std::size_t i = 0; gradients.bias != nullptr && i < count; ++i) {
    for (std::size_t u = 0; u < s.units; ++u) gradients.bias[u] += out_gradient[i * s.units + u];
  }
  const auto gradient = matrix<const T>(out_gradient, count, s.units);
  if (gradients.weight != nullptr) {
    gemm<T>(transposed(gradient), matrix(in, count, s.inputs), matrix(gradients.weight, s.units, s.inputs),
            Accumulate::yes);
  }
  if (gradients.in != nullptr) {
    gemm<T>(gradient, matrix(weight, s.units, s.inputs), matrix(gradients.in, count, s.inputs));
  }
}

#define FCAM_INSTANTIATE(T)                                                                                           \
  template void forward(const ImageStage&, std::size_t, const T*, const T*, const T*, T*, std::uint8_t*,              \
                        Workspace<T>&);                                                                               \
  template void backward(const ImageStage&, std::size_t, const T*, const T*, const T*, const std::uint8_t*, const T*, \
                         StageGradients<T>, Workspace<T>&);                                                           \
  template void forward(const LinearStage&, std::size_t, const T*, const T*, const T*, T*);                           \
  template void backward(const LinearStage&, std::size_t, const T*, const T*, const T*, T*, StageGradients<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
