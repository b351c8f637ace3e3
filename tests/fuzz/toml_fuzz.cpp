#include "common/toml.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fcam::fuzz::attempt(size, fcam::fuzz::plain, [&] {
    for (const auto& entry : fcam::apps::parse_toml(text, "config.toml")) {
      for (const auto& value : entry.values) fcam::apps::toml_string(value.text);
    }
  });
  return 0;
}
