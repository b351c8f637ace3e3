// The numerics of layers on plain memory, backward beside forward. A stage is what runs as one piece: a convolution, or
// the input as it is, then ReLU and max pooling where they follow; or a matrix product then ReLU. The map between
// convolution and pooling exists only for a few images at a time.
// Between image stages the channels of a pixel lie side by side, (height, width, channels), so that everything but the
// matrix products runs over contiguous channels; outside they are planes, (channels, height, width).
// Parameter gradients are added to, input gradients assigned. Instantiated for float and double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fcam/base/profile.h"
#include "fcam/base/tensor.h"
#include "fcam/nn/conv_kernels.h"

namespace fcam {

/// Temporary memory of a thread, shared by all stages that it runs, and the vector kernels that it runs them with.
template <class T>
struct Workspace {
  const ConvKernels* kernels = conv_kernels();  ///< float only; null: the general path alone
  Buffer<T> columns, map, column_gradient, result, weight, weight_gradient;  // of image stages
  struct {
    Buffer<T> ordered_weights, weights, inputs, outputs, input_gradients, weight_gradients;
  } winograd;
  std::vector<GradientEntry> entries;
  std::vector<std::uint32_t> places;
  Buffer<T> gradient_here, gradient_before;  // of a network
  Profile* profile = nullptr;                // gets the time of each stage; null: not measured
};

/// Convolution (kernel > 0) or identity (kernel = 0), then ReLU, then max pooling with windows that do not overlap.
/// ReLU before pooling and after it give the same values and gradients, so there is one place for it.
struct ImageStage {
  std::size_t channels, height, width;              ///< of the input
  std::size_t filters = 0;                          ///< channels of the output
  std::size_t kernel = 0, stride = 1, padding = 0;  ///< of the convolution
  bool relu = false;
  std::size_t pool = 1;                        ///< side of the window, at most 16; 1: no pooling
  std::size_t out_height = 0, out_width = 0;   ///< of the output
  bool in_planes = false, out_planes = false;  ///< layout of input and output; else channels last

  bool is_conv() const { return kernel > 0; }
  /// The map before pooling: of a convolution the part that pooling uses, for the border it drops is not computed.
  std::size_t map_height() const { return is_conv() ? out_height * pool : height; }
  std::size_t map_width() const { return is_conv() ? out_width * pool : width; }
  std::size_t map_area() const { return map_height() * map_width(); }
  std::size_t in_size() const { return channels * height * width; }
  std::size_t out_area() const { return out_height * out_width; }
  std::size_t out_size() const { return filters * out_area(); }
  std::size_t taps() const { return channels * kernel * kernel; }
  /// Multiply-adds of a dense convolution of one image, for the part of the map that pooling uses.
  std::size_t multiply_adds() const { return map_area() * filters * taps(); }
};

/// Outputs of `count` images: in (count, in_size) -> out (count, out_size). `winner` (count, out_height, out_width,
/// filters) gets the place of each maximum in its window, row by row, the first where several are equal; it may be null
/// where there is no pooling. NaN is passed on. `weight` is (filters, channels, kernel, kernel); `bias` (filters) or
/// null. In float the fast path of fused.h runs what it can: then `in`, and in backward an input gradient, must have
/// room for ConvKernels::slack numbers beyond the end unless they are planes.
template <class T>
void forward(const ImageStage& stage, std::size_t count, const T* in, const T* weight, const T* bias, T* out,
             std::uint8_t* winner, Workspace<T>& workspace);

/// Where gradients go; null: not needed.
template <class T>
struct StageGradients {
  T* weight;  ///< added to
  T* bias;    ///< added to
  T* in;      ///< assigned
};

/// `out` and `winner` as forward left them, `out_gradient` (count, out_size).
template <class T>
void backward(const ImageStage& stage, std::size_t count, const T* in, const T* weight, const T* out,
              const std::uint8_t* winner, const T* out_gradient, StageGradients<T> gradients, Workspace<T>& workspace);

/// y = W x + b, then ReLU.
struct LinearStage {
  std::size_t inputs, units;
  bool relu = false;

  std::size_t multiply_adds() const { return inputs * units; }  ///< of one input
};

/// in (count, inputs) -> out (count, units); `weight` (units, inputs), `bias` (units) or null.
template <class T>
void forward(const LinearStage& stage, std::size_t count, const T* in, const T* weight, const T* bias, T* out);

/// Overwrites `out_gradient` where ReLU blocks it.
template <class T>
void backward(const LinearStage& stage, std::size_t count, const T* in, const T* weight, const T* out, T* out_gradient,
              StageGradients<T> gradients);

}  // namespace fcam
