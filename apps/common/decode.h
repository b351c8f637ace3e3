// Image files in memory as pixels: PNG through libpng, JPEG through libjpeg (docs/file-formats.md).
#pragma once

#include <string>
#include <string_view>

#include "fcam/data/resize.h"

namespace fcam::apps {

/// Images of more pixels are refused.
inline constexpr std::size_t most_pixels = std::size_t{1} << 26;

/// Height, width and channels (1: grey, 3: red, green, blue) that an image will have, from its header; no pixels. The
/// content decides whether it is PNG or JPEG. Throws DataError, naming `path`.
Raster describe_image(std::string_view bytes, const std::string& path);

/// The whole image. What has 16 bits a channel is scaled to 8, palettes become colours, and what is transparent is laid
/// over white. Throws DataError, naming `path`, if the file is damaged, ends early, or is a JPEG of other colours than
/// grey, YCbCr and RGB.
Raster decode_image(std::string_view bytes, const std::string& path);

/// The two for one format each.
Raster read_png(std::string_view bytes, const std::string& path, bool header_only);
Raster read_jpeg(std::string_view bytes, const std::string& path, bool header_only);

/// Throws DataError unless a file of so many bytes may hold an image of that size, when a byte unpacks to at most
/// `largest_ratio` bytes of `bits_per_pixel` bits a pixel.
void require_plausible_size(const std::string& path, std::size_t file_size, std::size_t height, std::size_t width,
                            std::size_t bits_per_pixel, std::size_t largest_ratio);

}  // namespace fcam::apps
