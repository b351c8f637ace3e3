#include "fcam/nn/kernels.h"

#include <algorithm>

#include "fcam/base/blas.h"

namespace fcam {
namespace {

// Images that share one matrix product: enough columns for it to run well, few enough to stay in the second-level cache.
std::size_t block_size(const ImageStage& s, std::size_t scalar_size) {
  constexpr std::size_t cache_bytes = 400 << 10;
  return std::max<std::size_t>(1, cache_bytes / (s.taps() * s.map_area() * scalar_size));
}

// First and past-the-last output column whose tap `offset` falls inside an input of `width`.
struct Range {
  std::size_t first, last;
};
Range inside(const ImageStage& s, std::size_t offset, std::size_t width, std::size_t outputs) {
  const std::size_t first = offset >= s.padding ? 0 : (s.padding - offset + s.stride - 1) / s.stride;
  const std::size_t limit = width + s.padding;  // input column of output x is x stride + offset - padding
  const std::size_t last = limit > offset ? (limit - offset + s.stride - 1) / s.stride : 0;
  return {std::min(first, outputs), std::clamp(last, std::min(first, outputs), outputs)};
}

// Calls visit(column_offset, image_offset, length) for each run of taps inside the image and fill(column_offset, length)
// for each run in the padding, where column_offset is into (taps, row_stride) and runs step by `stride` in the image.
template <class Visit, class Fill>
void for_each_run(const ImageStage& s, std::size_t row_stride, Visit&& visit, Fill&& fill) {
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
          const std::size_t image = (c * s.height + y * s.stride + ky - s.padding) * s.width +
                                    x_range.first * s.stride + kx - s.padding;
          fill(column, x_range.first);
          visit(column + x_range.first, image, x_range.last - x_range.first);
          fill(column + x_range.last, columns - x_range.last);
        }
      }
    }
  }
}

// The patches under the kernel as columns of a (taps, map_area) matrix whose rows are row_stride apart.
template <class T>
void image_to_columns(const ImageStage& s, const T* image, T* columns, std::size_t row_stride) {
  for_each_run(
      s, row_stride,
      [&](std::size_t column, std::size_t from, std::size_t length) {
        T* out = columns + column;
        const T* in = image + from;
        if (s.stride == 1) {
          for (std::size_t i = 0; i < length; ++i) out[i] = in[i];
        } else {
          for (std::size_t i = 0; i < length; ++i) out[i] = in[i * s.stride];
        }
      },
      [&](std::size_t column, std::size_t length) { std::fill_n(columns + column, length, T(0)); });
}

// The transpose: every column entry is added to the pixel it came from.
template <class T>
void columns_to_image(const ImageStage& s, const T* columns, std::size_t row_stride, T* image) {
  std::fill_n(image, s.in_size(), T(0));
  for_each_run(
      s, row_stride,
      [&](std::size_t column, std::size_t to, std::size_t length) {
        const T* in = columns + column;
        T* out = image + to;
        if (s.stride == 1) {
          for (std::size_t i = 0; i < length; ++i) out[i] += in[i];
        } else {
          for (std::size_t i = 0; i < length; ++i) out[i * s.stride] += in[i];
        }
      },
      [](std::size_t, std::size_t) {});
}

// max(x, 0) that passes NaN on.
template <class T>
T rectify(T x) {
  return x < 0 ? T(0) : x;
}

// One plane of the map, rows `stride` apart, to one plane of the output: pooling, then bias, then ReLU (both monotone, so
// the maximum can be taken first).
template <class T>
void pool_plane(const ImageStage& s, const T* map, std::size_t stride, T bias, T* out, std::uint8_t* winner) {
  const std::size_t p = s.pool;
  for (std::size_t y = 0; y < s.out_height; ++y, out += s.out_width, winner += s.out_width) {
    const T* window_row = map + y * p * stride;
    for (std::size_t x = 0; x < s.out_width; ++x) {
      const T* window = window_row + x * p;
      T best = window[0];
      unsigned place = 0;
      if (p == 2) {
        const auto consider = [&](T value, unsigned here) {
          const bool better = value > best || value != value;
          best = better ? value : best;
          place = better ? here : place;
        };
        consider(window[1], 1);
        consider(window[stride], 2);
        consider(window[stride + 1], 3);
      } else {
        for (std::size_t i = 0; i < p * p; ++i) {
          const T value = window[i / p * stride + i % p];
          if (value > best || value != value) {
            best = value;
            place = static_cast<unsigned>(i);
          }
        }
      }
      out[x] = s.relu ? rectify(best + bias) : best + bias;
      winner[x] = static_cast<std::uint8_t>(place);
    }
  }
}

template <class T>
void finish_plane(const ImageStage& s, const T* map, std::size_t stride, T bias, T* out, std::uint8_t* winner) {
  if (s.pool > 1) return pool_plane(s, map, stride, bias, out, winner);
  for (std::size_t y = 0; y < s.out_height; ++y, map += stride, out += s.out_width) {
    for (std::size_t x = 0; x < s.out_width; ++x) out[x] = s.relu ? rectify(map[x] + bias) : map[x] + bias;
  }
}

// The gradient of one plane of the map, all `rows` rows of it, from the gradient of the output.
template <class T>
void unfinish_plane(const ImageStage& s, const T* out, const std::uint8_t* winner, const T* out_gradient, T* map_gradient,
                    std::size_t rows, std::size_t stride) {
  if (s.pool == 1) {
    for (std::size_t i = 0; i < s.out_area(); ++i) map_gradient[i] = s.relu && !(out[i] > 0) ? T(0) : out_gradient[i];
    return;
  }
  std::fill_n(map_gradient, rows * stride, T(0));
  const std::size_t p = s.pool;
  for (std::size_t y = 0, i = 0; y < s.out_height; ++y) {
    for (std::size_t x = 0; x < s.out_width; ++x, ++i) {
      if (s.relu && !(out[i] > 0)) continue;
      const std::size_t place = winner[i];
      map_gradient[(y * p + place / p) * stride + x * p + place % p] = out_gradient[i];
    }
  }
}

}  // namespace

template <class T>
void forward(const ImageStage& s, std::size_t count, const T* in, const T* weight, const T* bias, T* out,
             std::uint8_t* winner, Workspace<T>& workspace) {
  const std::size_t area = s.map_area(), out_area = s.out_area();
  if (!s.is_conv()) {
    const std::size_t plane = s.height * s.width;
    for (std::size_t k = 0; k < count * s.filters; ++k) {
      finish_plane(s, in + k * plane, s.width, T(0), out + k * out_area, winner + k * out_area);
    }
    return;
  }
  const std::size_t block = std::min(count, block_size(s, sizeof(T)));
  workspace.columns.resize(s.taps() * block * area);
  workspace.map.resize(s.filters * block * area);
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t images = std::min(block, count - first), columns = images * area;
    for (std::size_t i = 0; i < images; ++i) {
      image_to_columns(s, in + (first + i) * s.in_size(), workspace.columns.data() + i * area, columns);
    }
    gemm<T>(matrix(weight, s.filters, s.taps()), matrix<const T>(workspace.columns.data(), s.taps(), columns),
            matrix(workspace.map.data(), s.filters, columns));
    for (std::size_t i = 0; i < images; ++i) {
      for (std::size_t f = 0; f < s.filters; ++f) {
        const std::size_t plane = ((first + i) * s.filters + f) * out_area;
        finish_plane(s, workspace.map.data() + f * columns + i * area, s.map_width(), bias != nullptr ? bias[f] : T(0),
                     out + plane, winner + plane);
      }
    }
  }
}

template <class T>
void backward(const ImageStage& s, std::size_t count, const T* in, const T* weight, const T* out,
              const std::uint8_t* winner, const T* out_gradient, StageGradients<T> gradients, Workspace<T>& workspace) {
  const std::size_t area = s.map_area(), out_area = s.out_area();
  if (!s.is_conv()) {
    const std::size_t plane = s.height * s.width;
    for (std::size_t k = 0; k < count * s.filters && gradients.in != nullptr; ++k) {
      unfinish_plane(s, out + k * out_area, winner + k * out_area, out_gradient + k * out_area, gradients.in + k * plane,
                     s.height, s.width);
    }
    return;
  }
  const std::size_t block = std::min(count, block_size(s, sizeof(T)));
  workspace.columns.resize(s.taps() * block * area);
  workspace.map.resize(s.filters * block * area);
  workspace.column_gradient.resize(gradients.in != nullptr ? s.taps() * block * area : 0);
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t images = std::min(block, count - first), columns = images * area;
    T* const map = workspace.map.data();
    for (std::size_t i = 0; i < images; ++i) {
      for (std::size_t f = 0; f < s.filters; ++f) {
        const std::size_t plane = ((first + i) * s.filters + f) * out_area;
        // Planes of one filter lie side by side: (filters, images area).
        unfinish_plane(s, out + plane, winner + plane, out_gradient + plane, map + f * columns + i * area, s.map_height(),
                       s.map_width());
      }
    }
    if (gradients.bias != nullptr) {
      for (std::size_t f = 0; f < s.filters; ++f) {
        T total = 0;
        for (std::size_t k = 0; k < columns; ++k) total += map[f * columns + k];
        gradients.bias[f] += total;
      }
    }
    if (gradients.weight != nullptr) {
      for (std::size_t i = 0; i < images; ++i) {
        image_to_columns(s, in + (first + i) * s.in_size(), workspace.columns.data() + i * area, columns);
      }
      gemm<T>(matrix<const T>(map, s.filters, columns),
              transposed(matrix<const T>(workspace.columns.data(), s.taps(), columns)),
              matrix(gradients.weight, s.filters, s.taps()), Accumulate::yes);
    }
    if (gradients.in == nullptr) continue;
    gemm<T>(transposed(matrix(weight, s.filters, s.taps())), matrix<const T>(map, s.filters, columns),
            matrix(workspace.column_gradient.data(), s.taps(), columns));
    for (std::size_t i = 0; i < images; ++i) {
      columns_to_image(s, workspace.column_gradient.data() + i * area, columns, gradients.in + (first + i) * s.in_size());
    }
  }
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
    gemm<T>(transposed(gradient), matrix(in, count, s.inputs), matrix(gradients.weight, s.units, s.inputs), Accumulate::yes);
  }
  if (gradients.in != nullptr) {
    gemm<T>(gradient, matrix(weight, s.units, s.inputs), matrix(gradients.in, count, s.inputs));
  }
}

#define FCAM_INSTANTIATE(T)                                                                                              \
  template void forward(const ImageStage&, std::size_t, const T*, const T*, const T*, T*, std::uint8_t*, Workspace<T>&); \
  template void backward(const ImageStage&, std::size_t, const T*, const T*, const T*, const std::uint8_t*, const T*,    \
                         StageGradients<T>, Workspace<T>&);                                                              \
  template void forward(const LinearStage&, std::size_t, const T*, const T*, const T*, T*);                              \
  template void backward(const LinearStage&, std::size_t, const T*, const T*, const T*, T*, StageGradients<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
