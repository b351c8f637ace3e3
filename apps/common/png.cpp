#include "common/png.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include <png.h>

#include "fcam/base/error.h"
#include "fcam/base/file.h"

namespace fcam::apps {

Picture::Picture(std::size_t columns, std::size_t rows, Color color)
    : width(columns), height(rows), rgb(3 * columns * rows) {
  fill(0, 0, width, height, color);
}

Color Picture::at(std::size_t x, std::size_t y) const {
  assert(x < width && y < height);
  const std::uint8_t* pixel = rgb.data() + 3 * (y * width + x);
  return {pixel[0], pixel[1], pixel[2]};
}

void Picture::fill(std::size_t x, std::size_t y, std::size_t rectangle_width, std::size_t rectangle_height,
                   Color color) {
  if (x >= width || y >= height) return;
  const std::size_t right = x + std::min(rectangle_width, width - x);
  const std::size_t bottom = y + std::min(rectangle_height, height - y);
  for (std::size_t row = y; row < bottom; ++row) {
    std::uint8_t* pixel = rgb.data() + 3 * (row * width + x);
    for (std::size_t column = x; column < right; ++column) {
      *pixel++ = color.red;
      *pixel++ = color.green;
      *pixel++ = color.blue;
    }
  }
}

void write_png(const std::string& path, const Picture& picture) {
  assert(picture.rgb.size() == 3 * picture.width * picture.height);
  // libpng's simplified interface catches its own longjmp and frees what it took.
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  const auto fail = [&](const std::string& why) {
    throw WriteError(quote(path) + ": expected to write a picture of " + std::to_string(picture.width) + "x" +
                     std::to_string(picture.height) + " pixels, found: " + why);
  };
  // libpng counts the bytes of a row in 31 bits.
  constexpr std::size_t largest_side = std::numeric_limits<std::int32_t>::max() / 3;
  if (picture.rgb.empty()) fail("no pixels");
  if (picture.width > largest_side || picture.height > largest_side) fail("too many pixels");
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);

  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.rgb.data(), 0, nullptr) == 0) {
    fail(image.message);
  }
  bytes.resize(size);
  write_atomically(path, bytes);
}

}  // namespace fcam::apps
