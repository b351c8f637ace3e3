// Images of bytes, made larger or smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fcam {

/// Rows from the top, the channels of a pixel side by side: height x width x channels bytes.
struct Raster {
  std::size_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

/// The image stretched or shrunk to that size. Each side by itself: a pixel becomes the mean of those around its
/// place, with weights that fall linearly to zero at a distance of one pixel of the coarser of the two grids; rounded.
/// Requires sides and channels above zero.
Raster resize(Raster image, std::size_t height, std::size_t width);

}  // namespace fcam
