#include "fcam/training/safetensors.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fcam::fuzz::MemoryFile file;
  const std::string path = file.with({reinterpret_cast<const char*>(data), size});
  fcam::fuzz::attempt(size, fcam::fuzz::plain, [&] { fcam::read_safetensors(path); });
  return 0;
}
