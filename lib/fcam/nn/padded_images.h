// How the vector kernels see the images of a stage, and the gradient of its output: channels last, zeros around.
#pragma once

#include "fcam/nn/conv_kernels.h"
#include "fcam/nn/kernels.h"

namespace fcam {

class PaddedImages {
 public:
  /// Images of the stage with its padding, and zeros below and to the right up to that height and width.
  explicit PaddedImages(const ImageStage& stage, std::size_t height = 0, std::size_t width = 0);

  /// What the kernels have to know of the stage.
  ConvShape conv_shape() const;
  /// Numbers of one image.
  std::size_t size() const { return height_ * width_ * stage_->channels; }
  /// Whether images are used where they are.
  bool in_place() const;

  /// Room for one image in `buffer`, with the zeros that load() relies on.
  void clear(Buffer<float>& buffer) const;
  /// An image (stage.in_size) as the kernels want it: itself, or a copy in `buffer`.
  const float* load(const float* image, Buffer<float>& buffer) const;
  /// The way back: what belongs to the pixels of the image. Not to be called in place.
  void store(const float* padded, float* image) const;

 private:
  template <class Visit>
  void for_each_number(Visit&& visit) const;

  const ImageStage* stage_;
  std::size_t height_, width_;
};

/// The gradient of one image's output after ReLU, channels last, in `buffer`.
const float* rectified_gradient(const ImageStage& stage, const float* out, const float* out_gradient,
                                Buffer<float>& buffer);

/// Where a kernel shall write one image's output, channels last: `out` itself, or `buffer` where planes are wanted,
/// from which finish_output() makes them.
float* start_output(const ImageStage& stage, float* out, Buffer<float>& buffer);
void finish_output(const ImageStage& stage, const Buffer<float>& buffer, float* out);

/// bias (filters) += a gradient (out_area, filters).
void add_bias_gradient(const ImageStage& stage, const float* gradient, float* bias);

}  // namespace fcam
