// A hash that is the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace fcam {

/// FNV-1a, 64 bits, over bytes as they are added; numbers enter with their lowest byte first.
class Fnv {
 public:
  void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3u; }
  void add(std::uint64_t number, int bytes = 8) {
    for (int i = 0; i < bytes; ++i) add_byte(static_cast<std::uint8_t>(number >> (8 * i)));
  }
  /// The length, then the bytes.
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace fcam
