// 3x3 convolutions of many channels by Winograd's F(4x4, 3x3), with a quarter of the multiplications: the fast path of
// kernels.h where it pays. Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, arXiv 1509.09308.
#pragma once

#include "fcam/nn/conv_kernels.h"
#include "fcam/nn/kernels.h"

namespace fcam {

/// Whether it can run a stage and is faster than fused.h: 3x3, stride 1, whole blocks of channels and of filters, and a
/// map that tiles of 4x4 do not exceed by much. Requires can_fuse(stage).
bool can_use_winograd(const ConvKernels& kernels, const ImageStage& stage);

/// As fused_forward().
void winograd_forward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                      const float* weight, const float* bias, float* out, std::uint8_t* winner,
                      Workspace<float>& workspace);

/// As fused_backward().
void winograd_backward(const ConvKernels& kernels, const ImageStage& stage, std::size_t count, const float* in,
                       const float* weight, const float* out, const std::uint8_t* winner, const float* out_gradient,
                       StageGradients<float> gradients, Workspace<float>& workspace);

}  // namespace fcam
