// An RGB picture in memory, and its PNG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fcam::apps {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Color&, const Color&) = default;
};

/// A picture of 8-bit RGB pixels, row by row from the top left.
struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  ///< 3 width height bytes

  Picture() = default;
  /// A picture of one colour.
  Picture(std::size_t columns, std::size_t rows, Color color);

  /// Requires x < width and y < height.
  Color at(std::size_t x, std::size_t y) const;
  /// Fills a rectangle, of which the part outside the picture is left out.
  void fill(std::size_t x, std::size_t y, std::size_t rectangle_width, std::size_t rectangle_height, Color color);
};

/// Writes a PNG file, as write_atomically does. Throws WriteError.
void write_png(const std::string& path, const Picture& picture);

}  // namespace fcam::apps
