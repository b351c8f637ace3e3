#include "fcam/base/error.h"

#include <algorithm>
#include <array>
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
  // Of the first i letters of a and the first j of b: three rows, since a step looks back over two letters of a.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto &before = rows[(i + 2) % 3], &two_before = rows[(i + 1) % 3];
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        row[j] = i + j;
        continue;
      }
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (same(i, j) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

// How far off a name may be that is called near.
std::size_t reach(std::string_view name) { return std::max<std::size_t>(2, name.size() / 3); }

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
    const std::size_t difference = std::max(found.size(), name.size()) - std::min(found.size(), name.size());
    if (difference > reach(name)) continue;  // so many letters are missing or too many already
    const std::size_t distance = edit_distance(found, name);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = name;
    }
  }
  std::string message = "expected one of " + list + ", found " + quote(found);
  if (nearest_distance <= reach(nearest)) message += " (nearest: " + escaped(nearest) + ")";
  return message;
}

}  // namespace fcam
