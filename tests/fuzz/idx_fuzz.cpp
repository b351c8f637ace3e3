// A part with the file of images, then the file of labels.
#include "fcam/data/idx.h"

#include <algorithm>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fcam::fuzz::MemoryFile images, labels;
  fcam::fuzz::Parts parts(data, size);
  const std::string_view first = parts.part(), second = parts.rest();
  const std::string images_path = images.with(first), labels_path = labels.with(second);
  fcam::fuzz::attempt(size, std::max(fcam::fuzz::factor_of(first), fcam::fuzz::factor_of(second)), [&] {
    const fcam::Images read = fcam::read_idx(images_path, labels_path, {"a", "b", "c"});
    fcam::content_hash(read);
  });
  return 0;
}
