// Convolution, bias, ReLU and pooling of an image stage in one go, on vectors, without matrices of columns: the fast
// path of kernels.h in float. Its numbers differ from the general path's in rounding only.
#pragma once

#include "fcam/nn/conv_kernels.h"
#include "fcam/nn/kernels.h"

namespace fcam {

/// Whether the fast path can run a stage: convolutions, pooled by windows of 2 or not at all, of fewer than 2^16
/// filters and an input of fewer than 2^32 numbers with its padding, so that counts and places fit where lists keep
/// them.
inline bool can_fuse(const ImageStage& stage) {
  const std::size_t rows = stage.height + 2 * stage.padding, columns = stage.width + 2 * stage.padding;
  return stage.is_conv() && stage.pool <= 2 && stage.filters < (1u << 16) &&
         rows * columns * stage.channels < (1ull << 32);
}

/// As forward() of kernels.h; `in` must be readable for ConvKernels::slack numbers beyond its end.
void fused_forward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                   const float* weight, const float* bias, float* out, std::uint8_t* winner,
                   Workspace<float>& workspace);

/// As backward() of kernels.h; `in` must be readable, `gradients.in` writable, for ConvKernels::slack numbers beyond
/// its end, unless it is planes. Zeros of the gradient, which ReLU and pooling make most of it, cost nothing.
void fused_backward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                    const float* weight, const float* out, const std::uint8_t* winner, const float* out_gradient,
                    StageGradients<float> gradients, Workspace<float>& workspace);

}  // namespace fcam
