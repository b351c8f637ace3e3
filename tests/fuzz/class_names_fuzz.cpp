#include "fcam/data/class_names.h"

#include "fcam/data/images.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fcam::fuzz::MemoryFile file;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string path = file.with(text);
  fcam::fuzz::attempt(size, fcam::fuzz::plain, [&] {
    const auto names = fcam::read_class_names(path);
    const std::string again = fcam::class_names_text(names, "fuzz");
    if (fcam::read_class_names(file.with(again)) != names) std::abort();
    fcam::find_class(names, text.substr(0, text.find('\n')));
  });
  return 0;
}
