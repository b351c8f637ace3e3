// Convolution on vectors, compiled once for each instruction set and chosen when the program runs. Images are
// channels-last, without padding: who calls has put zeros around them. Float only; fused.h puts the pieces together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fcam {

/// The sizes that a kernel needs of a convolution, and of max pooling after it.
struct ConvShape {
  std::size_t channels, width;  ///< of the image, padding included
  std::size_t kernel, stride;
  std::size_t filters;
  std::size_t out_height, out_width;  ///< of the output, after pooling
  std::size_t pool;                   ///< 1 or 2
  bool relu;

  // always inlined: see conv_kernels.inc
  [[gnu::always_inline]] std::size_t run() const {
    return kernel * channels;
  }  ///< contiguous numbers under one row of the kernel
  [[gnu::always_inline]] std::size_t row() const { return width * channels; }  ///< numbers in a row of the image
  [[gnu::always_inline]] std::size_t out_area() const { return out_height * out_width; }
  /// Where the patch under map pixel (y, x) begins in the image.
  [[gnu::always_inline]] std::size_t base(std::size_t y, std::size_t x) const {
    return (y * width + x) * stride * channels;
  }
};

/// A number of the gradient before pooling: of filter or at patch `where`.
struct GradientEntry {
  std::uint32_t where;
  float value;
};

/// One image, the gradient of its output after ReLU, and the gradient of the weights to add to.
struct Windows {
  const float* image;
  const float* gradient;       ///< (out_height, out_width, filters)
  const std::uint8_t* winner;  ///< the same; null where pool is 1
  const std::uint32_t*
      places;              ///< where the patches of each window begin in the image, (out_height, out_width, pool pool)
  float* weight_gradient;  ///< (filters, kernel, padded_run)
};

/// c (rows, columns) = or += a (rows, depth) b (depth, columns); b and c contiguous, columns whole filter blocks.
struct Product {
  std::size_t rows, depth, columns;
  std::size_t a_row, a_column;  ///< numbers from one row of a to the next, and from one column to the next
  bool accumulate;
};

/// Kernels of one instruction set. Rows of weights under one row of the kernel are padded with zeros to whole vectors:
/// padded_run(run) numbers. Images and their gradients must be readable (gradients: writable) for `slack` numbers
/// beyond their end.
struct ConvKernels {
  static constexpr std::size_t slack = 16;

  const char* isa;
  std::size_t lanes;         ///< floats in a vector
  std::size_t filter_block;  ///< filters that are computed together

  std::size_t padded_run(std::size_t run) const { return (run + lanes - 1) / lanes * lanes; }
  std::size_t padded_filters(std::size_t filters) const {
    return (filters + filter_block - 1) / filter_block * filter_block;
  }

  /// One image: convolution, bias, ReLU, pooling. `packed` holds the weights as (filter blocks, taps, filter_block),
  /// zeros behind the last filter; `bias` padded_filters. Writes out (out_height, out_width, filters) and, where pool
  /// is 2, winner of the same shape.
  void (*forward)(const ConvShape& shape, const float* image, const float* packed, const float* bias, float* out,
                  std::uint8_t* winner);

  /// weight_gradient (kernel, padded_run) += sum of value times the patch at `where`, for the entries of one filter.
  void (*add_patches)(const ConvShape& shape, const float* image, const GradientEntry* entries, std::size_t count,
                      float* weight_gradient);

  /// What add_patches does, for all filters and without lists, which cost more than they save where a patch is a few
  /// vectors. Returns false where a patch is more than that, and does nothing.
  bool (*add_small_patches)(const ConvShape& shape, const Windows& windows);

  /// The patch at `base` += sum of value times the weights of filter `where`, weights (filters, kernel, padded_run).
  void (*add_filters)(const ConvShape& shape, const float* weights, const GradientEntry* entries, std::size_t count,
                      float* patch);

  // Winograd's F(4x4, 3x3), for 3x3 kernels of stride 1 whose channels and filters are whole filter blocks: winograd.h
  // puts the pieces together. The map is cut into tiles of 4x4, the last ones cut off, row by row; the image must be
  // as large as whole tiles need. What belongs to one of the 36 points of the transform lies together, (tiles, channels
  // or filters), and `step` numbers from that of the next point.

  /// weights (9, count) -> at_points (36, count), for any count of whole vectors.
  void (*weights_to_points)(std::size_t count, const float* weights, float* at_points);
  /// The transposed map, for gradients: at_points (36, count) -> weights (9, count).
  void (*weights_from_points)(std::size_t count, const float* at_points, float* weights);
  /// One image.
  void (*input_to_points)(const ConvShape& shape, const float* image, float* at_points, std::size_t step);
  /// The transposed map of one image, added to its gradient.
  void (*input_gradient_from_points)(const ConvShape& shape, const float* at_points, std::size_t step,
                                     float* image_gradient);
  /// One image, then bias (may be null), ReLU, pooling; out and winner as of forward.
  void (*output_from_points)(const ConvShape& shape, const float* at_points, std::size_t step, const float* bias,
                             float* out, std::uint8_t* winner);
  /// The transposed map of the gradient after ReLU, (out_height, out_width, filters).
  void (*output_gradient_to_points)(const ConvShape& shape, const float* gradient, const std::uint8_t* winner,
                                    float* at_points, std::size_t step);
  void (*product)(const Product& product, const float* a, const float* b, float* c);
};

/// The best kernels that this processor can run; null: it can run none. The environment variable FCAM_ISA names others,
/// or "general" for none; throws UsageError where it names what this processor cannot run.
const ConvKernels* conv_kernels();

/// Kernels by the name of their instruction set, null for "general". Throws UsageError where there are none of that
/// name that this processor can run.
const ConvKernels* conv_kernels(const std::string& isa);

/// Names of the instruction sets that this build has and this processor can run, "general" first, the best last.
std::vector<std::string> conv_isas();

}  // namespace fcam
