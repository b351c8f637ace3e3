#include "fcam/base/text.h"

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

namespace fcam {
namespace {

template <class... Format>
std::string text_of(double value, std::size_t most_characters, Format... format) {
  if (std::isnan(value)) return "nan";  // never "-nan"
  std::string text(most_characters, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format...);
  assert(end.ec == std::errc());
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

}  // namespace

std::string shortest(double value) { return text_of(value, 32); }

std::string fixed(double value, int digits) {
  assert(digits >= 0);
  constexpr std::size_t before_decimals = std::numeric_limits<double>::max_exponent10 + 3;  // sign, digits, point
  return text_of(value, before_decimals + static_cast<std::size_t>(digits), std::chars_format::fixed, digits);
}

std::string hexadecimal(std::uint64_t value) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = digits[value >> (4 * (15 - i)) & 15];
  return text;
}

bool parse_count(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool zero_in_front = text.size() > 1 && text[0] == '0';
  return error == std::errc() && end == text.data() + text.size() && !zero_in_front;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace fcam
