#include "common/decode.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A bit of palette becomes three bytes, and a byte of deflated data up to 1032; libpng has its buffers on top.
  fcam::fuzz::attempt(size, 24 * 1032 + 1032, [&] { fcam::apps::read_png(bytes, "x.png", true); });
  fcam::fuzz::attempt(size, 24 * 1032 + 1032, [&] { fcam::apps::read_png(bytes, "x.png", false); });
  return 0;
}
