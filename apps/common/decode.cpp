#include "common/decode.h"

#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

std::string describe_start(std::string_view bytes) {
  if (bytes.empty()) return "an empty file";
  if (bytes.starts_with("GIF8")) return "a GIF image";
  if (bytes.starts_with("BM")) return "a BMP image";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "a WebP image";
  if (bytes.starts_with("II*") || bytes.starts_with("MM")) return "a TIFF image";
  return "a file that starts with " + quote(bytes.substr(0, 8));
}

Raster read(std::string_view bytes, const std::string& path, bool header_only) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return read_png(bytes, path, header_only);
  if (bytes.starts_with("\xff\xd8")) return read_jpeg(bytes, path, header_only);
  throw bad_input(path, "a PNG or JPEG image", describe_start(bytes));
}

}  // namespace

Raster describe_image(std::string_view bytes, const std::string& path) { return read(bytes, path, true); }
Raster decode_image(std::string_view bytes, const std::string& path) { return read(bytes, path, false); }

void require_plausible_size(const std::string& path, std::size_t file_size, std::size_t height, std::size_t width,
                            std::size_t bits_per_pixel, std::size_t largest_ratio) {
  const std::string size = std::to_string(height) + "x" + std::to_string(width);
  if (height == 0 || width == 0) throw bad_input(path, "an image with pixels", size);
  if (height > most_pixels || width > most_pixels || height * width > most_pixels) {
    throw bad_input(path, "an image of at most " + std::to_string(most_pixels) + " pixels", size);
  }
  if (height * width / 8 * bits_per_pixel / largest_ratio > file_size) {
    throw bad_input(path, "an image of " + size + " pixels, as its header says",
                    "only " + std::to_string(file_size) + " bytes (incomplete copy?)");
  }
}

}  // namespace fcam::apps
