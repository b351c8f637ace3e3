// Convolution, bias, ReLU and pooling of an image stage in one go, on vectors, without matrices of columns: the fast path of
// kernels.h in float. Its numbers differ from the general path's in rounding only.
#pragma once

#include "fcam/nn/conv_kernels.h"
#include "fcam/nn/kernels.h"

namespace fcam {

/// Whether the fast path can run a stage: convolutions, pooled by windows of 2 or not at all, of fewer than 65536 filters.
inline bool can_fuse(const ImageStage& stage) { return stage.is_conv() && stage.pool <= 2 && stage.filters < 65536; }

/// As forward() of kernels.h; `in` must be readable for ConvKernels::slack numbers beyond its end.
void fused_forward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                   const float* weight, const float* bias, float* out, std::uint8_t* winner, Workspace<float>& workspace);

/// As backward() of kernels.h; `in` must be readable, `gradients.in` writable, for ConvKernels::slack numbers beyond its end,
/// unless it is planes. Zeros of the gradient, which ReLU and pooling make most of it, cost nothing.
void fused_backward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                    const float* weight, const float* out, const std::uint8_t* winner, const float* out_gradient,
                    StageGradients<float> gradients, Workspace<float>& workspace);

}  // namespace fcam
