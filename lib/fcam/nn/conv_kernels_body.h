// The body of the convolution kernels, included by one .cpp an instruction set, which says how long a vector is
// (FCAM_LANES), how many vectors of filters and how many pixels are computed at a time (FCAM_VECTORS, FCAM_PIXELS), and
// what the kernels are called (FCAM_KERNELS, FCAM_ISA_NAME). Vectors are the compiler's own types. Everything is in an
// unnamed namespace and nothing inline comes from the standard library: the linker keeps one copy of an inline
// function, and must never take that of one instruction set for a program on another.
#include <cstring>
#include <utility>

#include "fcam/nn/conv_kernels.h"

namespace fcam {
namespace {

constexpr std::size_t lanes = FCAM_LANES, vectors = FCAM_VECTORS, pixels = FCAM_PIXELS;
constexpr std::size_t block = lanes * vectors;

typedef float Vector __attribute__((vector_size(4 * FCAM_LANES)));
typedef std::int32_t Integers __attribute__((vector_size(4 * FCAM_LANES)));
typedef std::uint8_t Bytes __attribute__((vector_size(FCAM_LANES)));
// The same without alignment, for memory.
typedef float Loose __attribute__((vector_size(4 * FCAM_LANES), aligned(4), may_alias));

constexpr std::size_t least(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

inline Vector load(const float* from) {
  return *reinterpret_cast<const Loose*>(from);
}
inline void store(float* to, Vector x) {
  *reinterpret_cast<Loose*>(to) = x;
}
inline Vector all(float x) {
  return x - Vector{};
}

// Convolution at `pixels` places at once, for one block of filters: sum[p][v].
struct Sums {
  Vector at[pixels][vectors];
};

__attribute__((always_inline)) inline Sums convolve(const ConvShape& s, const float* const* places,
                                                    const float* weights) {
  Sums sums;
#pragma GCC unroll 16
  for (std::size_t p = 0; p < pixels; ++p) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) sums.at[p][v] = Vector{};
  }
  const std::size_t run = s.run(), row = s.row();
  for (std::size_t ky = 0; ky < s.kernel; ++ky) {
    const float* in[pixels];
#pragma GCC unroll 16
    for (std::size_t p = 0; p < pixels; ++p) in[p] = places[p] + ky * row;
    for (std::size_t t = 0; t < run; ++t, weights += block) {
      Vector w[vectors];
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) w[v] = load(weights + v * lanes);
#pragma GCC unroll 16
      for (std::size_t p = 0; p < pixels; ++p) {
        const Vector x = all(in[p][t]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) sums.at[p][v] += x * w[v];
      }
    }
  }
  return sums;
}

// max(x, 0) that passes NaN on.
inline Vector rectify(Vector x) {
  return x < Vector{} ? Vector{} : x;
}

// Stores the first `count` lanes.
inline void store_some(float* to, Vector x, std::size_t count) {
  if (count >= lanes) return store(to, x);
  std::memcpy(to, &x, count * sizeof(float));
}

// Windows of 2x2 pixels, pixels / 4 of them at a time: the maximum, its place, bias and ReLU in registers.
void forward_pooled(const ConvShape& s, const float* image, const float* packed, const float* bias, float* out,
                    std::uint8_t* winner) {
  constexpr std::size_t windows = pixels / 4;
  static_assert(pixels % 4 == 0);
  for (std::size_t f = 0; f < s.filters; f += block, packed += block * s.kernel * s.run()) {
    for (std::size_t first = 0; first < s.out_area(); first += windows) {
      const float* places[pixels];
      for (std::size_t w = 0; w < windows; ++w) {
        const std::size_t o = least(first + w, s.out_area() - 1);  // a window too many is computed and not stored
        const std::size_t y = 2 * (o / s.out_width), x = 2 * (o % s.out_width);
        for (std::size_t q = 0; q < 4; ++q) places[4 * w + q] = image + s.base(y + q / 2, x + q % 2);
      }
      const Sums sums = convolve(s, places, packed);
#pragma GCC unroll 4
      for (std::size_t w = 0; w < windows; ++w) {
        if (first + w >= s.out_area()) break;
        const std::size_t at = (first + w) * s.filters + f;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
          if (f + v * lanes >= s.filters) break;
          Vector best = sums.at[4 * w][v];
          Integers place{};
#pragma GCC unroll 4
          for (int q = 1; q < 4; ++q) {
            const Vector here = sums.at[4 * w + static_cast<std::size_t>(q)][v];
            const Integers better = (here > best) | (here != here);
            best = better ? here : best;
            place = better ? q - Integers{} : place;
          }
          best += load(bias + f + v * lanes);
          if (s.relu) best = rectify(best);
          const std::size_t count = s.filters - f - v * lanes;
          store_some(out + at + v * lanes, best, count);
          const Bytes narrow = __builtin_convertvector(place, Bytes);
          std::memcpy(winner + at + v * lanes, &narrow, least(count, lanes));
        }
      }
    }
  }
}

void forward_plain(const ConvShape& s, const float* image, const float* packed, const float* bias, float* out) {
  for (std::size_t f = 0; f < s.filters; f += block, packed += block * s.kernel * s.run()) {
    for (std::size_t first = 0; first < s.out_area(); first += pixels) {
      const float* places[pixels];
      for (std::size_t p = 0; p < pixels; ++p) {
        const std::size_t o = least(first + p, s.out_area() - 1);
        places[p] = image + s.base(o / s.out_width, o % s.out_width);
      }
      const Sums sums = convolve(s, places, packed);
#pragma GCC unroll 16
      for (std::size_t p = 0; p < pixels; ++p) {
        if (first + p >= s.out_area()) break;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < vectors; ++v) {
          if (f + v * lanes >= s.filters) break;
          Vector value = sums.at[p][v] + load(bias + f + v * lanes);
          if (s.relu) value = rectify(value);
          store_some(out + (first + p) * s.filters + f + v * lanes, value, s.filters - f - v * lanes);
        }
      }
    }
  }
}

void forward(const ConvShape& s, const float* image, const float* packed, const float* bias, float* out,
             std::uint8_t* winner) {
  if (s.pool == 2) {
    forward_pooled(s, image, packed, bias, out, winner);
  } else {
    forward_plain(s, image, packed, bias, out);
  }
}

// What a gradient is made of: for each entry, value times `count` vectors in each of `rows` rows, the rows of the
// source from_row apart, added to rows that are to_row apart. Few sums would wait for each other's additions, so then
// entries take turns with `turns` sets of sums.
struct Rows {
  const float* from;
  std::size_t step, from_row;  // an entry's source begins at from + step * where
  float* to;
  std::size_t to_row;
};

template <std::size_t rows, std::size_t count>
void add_rows(const Rows& r, const GradientEntry* entries, std::size_t entry_count) {
  constexpr std::size_t turns = rows * count <= 3 ? 4 : rows * count <= 6 ? 2 : 1;
  Vector sum[turns][rows][count];
#pragma GCC unroll 4
  for (std::size_t u = 0; u < turns; ++u) {
#pragma GCC unroll 3
    for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 12
      for (std::size_t v = 0; v < count; ++v) sum[u][i][v] = u == 0 ? load(r.to + i * r.to_row + v * lanes) : Vector{};
    }
  }
  const auto add = [&](const GradientEntry& entry, Vector(&to)[rows][count]) __attribute__((always_inline)) {
    const float* const at = r.from + r.step * entry.where;
    const Vector value = all(entry.value);
#pragma GCC unroll 3
    for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 12
      for (std::size_t v = 0; v < count; ++v) to[i][v] += value * load(at + i * r.from_row + v * lanes);
    }
  };
  std::size_t e = 0;
  for (; e + turns <= entry_count; e += turns) {
#pragma GCC unroll 4
    for (std::size_t u = 0; u < turns; ++u) add(entries[e + u], sum[u]);
  }
  for (; e < entry_count; ++e) add(entries[e], sum[0]);
#pragma GCC unroll 3
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 12
    for (std::size_t v = 0; v < count; ++v) {
      Vector total = sum[0][i][v];
#pragma GCC unroll 4
      for (std::size_t u = 1; u < turns; ++u) total += sum[u][i][v];
      store(r.to + i * r.to_row + v * lanes, total);
    }
  }
}

constexpr std::size_t most_rows = 3, most_vectors = 12;
constexpr std::size_t registers = lanes == 16 ? 24 : 12;  // of the processor's, for sums

using AddRows = void (*)(const Rows&, const GradientEntry*, std::size_t);

struct AddRowsTable {
  AddRows of[most_vectors];  // by the number of vectors, from 1; null where there are too few registers
};
template <std::size_t rows, std::size_t... count>
constexpr AddRowsTable add_rows_of(std::index_sequence<count...>) {
  return {{(rows * (count + 1) <= registers ? add_rows<rows, (rows * (count + 1) <= registers ? count + 1 : 1)>
                                            : nullptr)...}};
}
constexpr AddRowsTable add_rows_table[most_rows] = {add_rows_of<1>(std::make_index_sequence<most_vectors>()),
                                                    add_rows_of<2>(std::make_index_sequence<most_vectors>()),
                                                    add_rows_of<3>(std::make_index_sequence<most_vectors>())};

// All rows and vectors, as many at a time as there are registers for.
void add_all(Rows r, std::size_t row_count, std::size_t vector_count, const GradientEntry* entries,
             std::size_t entry_count) {
  for (std::size_t v = 0; v < vector_count;) {
    const std::size_t count = least(vector_count - v, most_vectors);
    const std::size_t most = least(most_rows, registers / count);
    for (std::size_t i = 0; i < row_count;) {
      const std::size_t rows = least(row_count - i, most);
      add_rows_table[rows - 1].of[count - 1]({.from = r.from + i * r.from_row + v * lanes,
                                              .step = r.step,
                                              .from_row = r.from_row,
                                              .to = r.to + i * r.to_row + v * lanes,
                                              .to_row = r.to_row},
                                             entries, entry_count);
      i += rows;
    }
    v += count;
  }
}

void add_patches(const ConvShape& s, const float* image, const GradientEntry* entries, std::size_t count,
                 float* weight_gradient) {
  const std::size_t run_vectors = (s.run() + lanes - 1) / lanes;
  add_all({.from = image, .step = 1, .from_row = s.row(), .to = weight_gradient, .to_row = run_vectors * lanes},
          s.kernel, run_vectors, entries, count);
}

void add_filters(const ConvShape& s, const float* weights, const GradientEntry* entries, std::size_t count,
                 float* patch) {
  const std::size_t run_vectors = (s.run() + lanes - 1) / lanes, padded = run_vectors * lanes;
  add_all({.from = weights, .step = s.kernel * padded, .from_row = padded, .to = patch, .to_row = s.row()}, s.kernel,
          run_vectors, entries, count);
}

}  // namespace

extern const ConvKernels FCAM_KERNELS;
const ConvKernels FCAM_KERNELS{.isa = FCAM_ISA_NAME,
                               .lanes = lanes,
                               .filter_block = block,
                               .forward = forward,
                               .add_patches = add_patches,
                               .add_filters = add_filters};

}  // namespace fcam
