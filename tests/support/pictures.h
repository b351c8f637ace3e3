// PNG and JPEG files of every kind, written by the test itself through zlib and libjpeg.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <jpeglib.h>  // after cstdio, which it does not include

namespace fcam::test {

inline std::string big_endian_32(std::size_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}

inline std::string png_chunk(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian_32(content.size()) + body + big_endian_32(crc);
}

inline std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
               bytes.size()) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  packed.resize(size);
  return packed;
}

/// Colour types of PNG.
enum PngColor { png_grey = 0, png_rgb = 2, png_palette = 3, png_grey_alpha = 4, png_rgba = 6 };

struct Png {
  std::size_t width, height;
  int bits = 8;
  PngColor color = png_rgb;
  std::string rows = {};    ///< as the format stores them: each begins with its filter byte
  std::string chunks = {};  ///< between header and data
  bool interlaced = false;
};

inline std::string png_file(const Png& png) {
  const std::string header = big_endian_32(png.width) + big_endian_32(png.height) + static_cast<char>(png.bits) +
                             static_cast<char>(png.color) + std::string(2, '\0') + (png.interlaced ? '\1' : '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png.chunks + png_chunk("IDAT", deflated(png.rows)) +
         png_chunk("IEND", "");
}

/// A PNG of one colour, given as the bytes of a pixel.
inline std::string plain_png(std::size_t width, std::size_t height, PngColor color, const std::string& pixel,
                             const std::string& chunks = "") {
  std::string rows;
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\0';
    for (std::size_t x = 0; x < width; ++x) rows += pixel;
  }
  const std::size_t channels = color == png_rgb ? 3 : color == png_rgba ? 4 : color == png_grey_alpha ? 2 : 1;
  return png_file({.width = width,
                   .height = height,
                   .bits = static_cast<int>(8 * pixel.size() / channels),
                   .color = color,
                   .rows = rows,
                   .chunks = chunks});
}

struct Jpeg {
  std::size_t width, height;
  int components = 3;  ///< 1: grey, 3: RGB, 4: CMYK
  std::string pixels = {};
  bool progressive = false;
  int quality = 95;
};

inline std::string jpeg_file(const Jpeg& image) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr) { throw std::runtime_error("libjpeg"); };
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = image.components;
  jpeg.in_color_space = image.components == 1 ? JCS_GRAYSCALE : image.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, image.quality, TRUE);
  if (image.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  const std::size_t stride = image.width * static_cast<std::size_t>(image.components);
  if (image.pixels.size() != stride * image.height) throw std::runtime_error("pixels of another size");
  std::string pixels = image.pixels;
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = reinterpret_cast<JSAMPROW>(pixels.data() + jpeg.next_scanline * stride);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return file;
}

/// A JPEG of one colour, given as the bytes of a pixel.
inline std::string plain_jpeg(std::size_t width, std::size_t height, const std::string& pixel) {
  std::string pixels;
  for (std::size_t k = 0; k < width * height; ++k) pixels += pixel;
  return jpeg_file({.width = width, .height = height, .components = static_cast<int>(pixel.size()), .pixels = pixels});
}

}  // namespace fcam::test
