#include "fcam/base/error.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace fcam {
namespace {

// Letters that differ, are missing, are too many, or have changed places with their neighbour (optimal string
// alignment), compared without case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
  };
  // Of the first i letters of a and the first j of b.
  std::vector<std::vector<std::size_t>> distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& least = distance[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + (same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) least = std::min(least, distance[i - 2][j - 2] + 1);
    }
  }
  return distance[a.size()][b.size()];
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
