#include "fcam/data/gzip.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fcam::fuzz::MemoryFile file;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string path = file.with(bytes);
  fcam::fuzz::attempt(size, fcam::fuzz::factor_of(bytes), [&] { fcam::read_unpacked(path); });
  return 0;
}
