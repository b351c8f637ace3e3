#include "common/decode.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // 2048 bytes of pixels a byte, and twice as much again for the coefficients of a progressive file.
  fcam::fuzz::attempt(size, 3 * 2048, [&] { fcam::apps::read_jpeg(bytes, "x.jpg", true); });
  fcam::fuzz::attempt(size, 3 * 2048, [&] {
    const fcam::Raster image = fcam::apps::read_jpeg(bytes, "x.jpg", false);
    if (image.pixels.size() != image.height * image.width * image.channels) std::abort();
  });
  return 0;
}
