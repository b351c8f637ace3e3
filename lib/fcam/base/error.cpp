#include "fcam/base/error.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace fcam {
namespace {

// Levenshtein distance, letters compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = diagonal + (lower(a[i - 1]) != lower(b[j - 1]) ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row[b.size()];
}

std::string escaped(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string quote(std::string_view text) { return "'" + escaped(text) + "'"; }

std::string unknown_name(std::string_view found, const std::vector<std::string>& known) {
  std::string list;
  std::string_view nearest;
  std::size_t nearest_distance = std::numeric_limits<std::size_t>::max();
  for (const auto& name : known) {
    if (!list.empty()) list += ", ";
    list += escaped(name);
    const std::size_t distance = edit_distance(found, name);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = name;
    }
  }
  std::string message = "expected one of " + list + ", found " + quote(found);
  if (nearest_distance <= std::max<std::size_t>(2, nearest.size() / 3))
    message += " (nearest: " + escaped(nearest) + ")";
  return message;
}

}  // namespace fcam
