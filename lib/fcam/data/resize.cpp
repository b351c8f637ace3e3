#include "fcam/data/resize.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fcam {
namespace {

// Weights of the source pixels first, first + 1, ... in one target pixel.
struct Taps {
  std::size_t first = 0;
  std::vector<double> weights;
};

std::vector<Taps> taps_of(std::size_t from, std::size_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  std::vector<Taps> all(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(center - reach)));
    const std::size_t high = std::min(from, static_cast<std::size_t>(std::ceil(center + reach)));
    double sum = 0;
    all[i].first = low;
    for (std::size_t k = low; k < high; ++k) {
      const double distance = std::abs(static_cast<double>(k) + 0.5 - center);
      all[i].weights.push_back(std::max(0.0, 1 - distance / reach));
      sum += all[i].weights.back();
    }
    for (double& weight : all[i].weights) weight /= sum;
  }
  return all;
}

// Numbers in `outer` blocks of `size` runs of `inner` numbers; replaces the middle axis by one of size taps.size().
template <class T>
std::vector<float> along(const std::vector<T>& in, std::size_t outer, std::size_t size, std::size_t inner,
                         const std::vector<Taps>& taps) {
  std::vector<float> out(outer * taps.size() * inner);
  std::vector<double> sums(inner);
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < taps.size(); ++i) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t k = 0; k < taps[i].weights.size(); ++k) {
        const T* run = in.data() + (o * size + taps[i].first + k) * inner;
        for (std::size_t n = 0; n < inner; ++n) sums[n] += taps[i].weights[k] * static_cast<double>(run[n]);
      }
      std::copy(sums.begin(), sums.end(), out.begin() + static_cast<std::ptrdiff_t>((o * taps.size() + i) * inner));
    }
  }
  return out;
}

}  // namespace

Raster resize(Raster image, std::size_t height, std::size_t width) {
  assert(height > 0 && width > 0 && image.height > 0 && image.width > 0 && image.channels > 0);
  if (height == image.height && width == image.width) return image;
  const std::vector<Taps> down = taps_of(image.height, height), across = taps_of(image.width, width);
  std::vector<float> numbers;  // the image itself may be large: it is read as it is
  // The side that shrinks comes first, so that what is between is never larger than both ends.
  if (height < image.height) {
    numbers = along(image.pixels, 1, image.height, image.width * image.channels, down);
    numbers = along(numbers, height, image.width, image.channels, across);
  } else {
    numbers = along(image.pixels, image.height, image.width, image.channels, across);
    numbers = along(numbers, 1, image.height, width * image.channels, down);
  }
  Raster result{height, width, image.channels, std::vector<std::uint8_t>(numbers.size())};
  std::transform(numbers.begin(), numbers.end(), result.pixels.begin(), [](float value) {
    return static_cast<std::uint8_t>(std::clamp(std::floor(value + 0.5f), 0.0f, 255.0f));
  });
  return result;
}

}  // namespace fcam
