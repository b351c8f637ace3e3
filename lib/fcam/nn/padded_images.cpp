#include "fcam/nn/padded_images.h"

#include <algorithm>

namespace fcam {

PaddedImages::PaddedImages(const ImageStage& stage, std::size_t height, std::size_t width)
    : stage_(&stage),
      height_(std::max(height, stage.height + 2 * stage.padding)),
      width_(std::max(width, stage.width + 2 * stage.padding)) {}

ConvShape PaddedImages::conv_shape() const {
  return {.channels = stage_->channels,
          .width = width_,
          .kernel = stage_->kernel,
          .stride = stage_->stride,
          .filters = stage_->filters,
          .out_height = stage_->out_height,
          .out_width = stage_->out_width,
          .pool = stage_->pool,
          .relu = stage_->relu};
}

bool PaddedImages::in_place() const {
  return !stage_->in_planes && height_ == stage_->height && width_ == stage_->width;
}

// Calls visit(index in the image as it is stored, index in the padded channels-last image) for each of its numbers.
template <class Visit>
void PaddedImages::for_each_number(Visit&& visit) const {
  const ImageStage& s = *stage_;
  const std::size_t row = width_ * s.channels;
  const std::size_t channel_step = s.in_planes ? s.height * s.width : 1, pixel_step = s.in_planes ? 1 : s.channels;
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t y = 0; y < s.height; ++y) {
      const std::size_t stored = c * channel_step + y * s.width * pixel_step;
      const std::size_t padded = (y + s.padding) * row + s.padding * s.channels + c;
      for (std::size_t x = 0; x < s.width; ++x) visit(stored + x * pixel_step, padded + x * s.channels);
    }
  }
}

void PaddedImages::clear(Buffer<float>& buffer) const {
  if (!in_place()) buffer.assign(size() + ConvKernels::slack, 0.0f);
}

const float* PaddedImages::load(const float* image, Buffer<float>& buffer) const {
  if (in_place()) return image;
  for_each_number([&](std::size_t from, std::size_t to) { buffer[to] = image[from]; });
  return buffer.data();
}

void PaddedImages::store(const float* padded, float* image) const {
  for_each_number([&](std::size_t to, std::size_t from) { image[to] = padded[from]; });
}

const float* rectified_gradient(const ImageStage& s, const float* out, const float* out_gradient,
                                Buffer<float>& buffer) {
  float* const gradient = buffer.data();
  const std::size_t area = s.out_area(), size = s.out_size();
  const bool all = !s.relu;
  const auto passed = [=](float value, float g) { return (all | (value > 0)) ? g : 0.0f; };
  if (s.out_planes) {
    for (std::size_t f = 0; f < s.filters; ++f) {
      for (std::size_t o = 0; o < area; ++o) {
        gradient[o * s.filters + f] = passed(out[f * area + o], out_gradient[f * area + o]);
      }
    }
  } else {
    for (std::size_t i = 0; i < size; ++i) gradient[i] = passed(out[i], out_gradient[i]);
  }
  return gradient;
}

float* start_output(const ImageStage& s, float* out, Buffer<float>& buffer) {
  if (!s.out_planes) return out;
  buffer.resize(s.out_size());
  return buffer.data();
}

void finish_output(const ImageStage& s, const Buffer<float>& buffer, float* out) {
  if (!s.out_planes) return;
  const std::size_t area = s.out_area();
  for (std::size_t o = 0; o < area; ++o) {
    for (std::size_t f = 0; f < s.filters; ++f) out[f * area + o] = buffer[o * s.filters + f];
  }
}

void add_bias_gradient(const ImageStage& s, const float* gradient, float* bias) {
  for (std::size_t o = 0; o < s.out_area(); ++o) {
    for (std::size_t f = 0; f < s.filters; ++f) bias[f] += gradient[o * s.filters + f];
  }
}

}  // namespace fcam
