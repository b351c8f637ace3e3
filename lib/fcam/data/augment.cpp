#include "fcam/data/augment.h"

#include <algorithm>
#include <cassert>

#include "fcam/base/error.h"

namespace fcam {
namespace {

// A shift uniform on {-most, ..., most}.
std::ptrdiff_t draw_shift(Random& random, std::size_t size) {
  const auto most = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, size / 8));
  return static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
}

// Row by row so that no pixel is overwritten before it has been read.
template <class T>
void shift(std::size_t height, std::size_t width, std::ptrdiff_t down, std::ptrdiff_t right, T* plane) {
  const auto h = static_cast<std::ptrdiff_t>(height), w = static_cast<std::ptrdiff_t>(width);
  for (std::ptrdiff_t i = 0; i < h; ++i) {
    const std::ptrdiff_t y = down > 0 ? h - 1 - i : i;
    T* const to = plane + y * w;
    const std::ptrdiff_t from_y = y - down;
    if (from_y < 0 || from_y >= h) {
      std::fill_n(to, w, T(0));
      continue;
    }
    const T* const from = plane + from_y * w;
    if (right >= 0) {
      std::copy_backward(from, from + w - right, to + w);
      std::fill_n(to, right, T(0));
    } else {
      std::copy(from - right, from + w, to);
      std::fill_n(to + w + right, -right, T(0));
    }
  }
}

}  // namespace

Augmentation parse_augmentation(const std::vector<std::string>& names) {
  Augmentation result;
  for (const std::string& name : names) {
    bool& on = name == "flip" ? result.flip : result.crop;
    if (name != "flip" && name != "crop") throw UsageError("augment: " + unknown_name(name, {"flip", "crop"}));
    if (on) throw UsageError("augment: expected " + quote(name) + " once, found it twice");
    on = true;
  }
  return result;
}

void require_images(const Augmentation& augmentation, const Shape& shape) {
  if (augmentation && shape.size() != 3) {
    throw UsageError("augment: expected images (channels x height x width), found items of " + to_string(shape));
  }
}

template <class T>
void augment(const Augmentation& augmentation, const Shape& shape, Random& random, T* image) {
  assert(shape.size() == 3);
  const std::size_t channels = shape[0], height = shape[1], width = shape[2];
  const bool flip = augmentation.flip && random.below(2) == 1;
  const std::ptrdiff_t down = augmentation.crop ? draw_shift(random, height) : 0;
  const std::ptrdiff_t right = augmentation.crop ? draw_shift(random, width) : 0;
  for (std::size_t c = 0; c < channels; ++c) {
    T* const plane = image + c * height * width;
    for (std::size_t y = 0; y < height && flip; ++y) std::reverse(plane + y * width, plane + (y + 1) * width);
    if (down != 0 || right != 0) shift(height, width, down, right, plane);
  }
}

template void augment(const Augmentation&, const Shape&, Random&, float*);
template void augment(const Augmentation&, const Shape&, Random&, double*);

}  // namespace fcam
