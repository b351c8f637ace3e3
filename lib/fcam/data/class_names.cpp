#include "fcam/data/class_names.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "fcam/base/file.h"
#include "fcam/data/input.h"

namespace fcam {

namespace {

std::vector<std::string> parse(std::string_view text, const std::string& path) {
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  if (rest.find('\0') != std::string_view::npos) throw bad_input(path, "class names in UTF-8", "a zero byte (UTF-16?)");
  std::vector<std::string> names;
  std::set<std::string> known;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    const std::size_t end = line.size() + (rest.substr(line.size()).starts_with("\r\n") ? 2 : 1);
    rest.remove_prefix(std::min(rest.size(), end));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t") + 1 - first);
    if (!known.emplace(line).second) {
      throw bad_input(path, "every class name once", quote_start(line) + " again in line " + std::to_string(number));
    }
    names.emplace_back(line);
  }
  if (names.empty()) throw bad_input(path, "a class name", "none");
  return names;
}

// Whether a line of just this name holds it.
bool survives(const std::string& name) {
  try {
    return parse(name + "\n", "") == std::vector{name};
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> read_class_names(const std::string& path) { return parse(read_bytes(path), path); }

std::vector<std::string> read_class_names(const std::string& path, std::size_t count) {
  std::vector<std::string> names = read_class_names(path);
  if (names.size() != count) {
    throw bad_input(path, std::to_string(count) + " class names", std::to_string(names.size()));
  }
  return names;
}

std::string class_names_text(const std::vector<std::string>& names, const std::string& who) {
  std::string text;
  std::set<std::string_view> known;
  for (const std::string& name : names) {
    if (!survives(name)) {
      throw UsageError(who + ": expected class names that lines of a text can hold, found " + quote(name));
    }
    if (!known.insert(name).second)
      throw UsageError(who + ": expected every class name once, found " + quote(name) + " again");
    text += name + "\n";
  }
  return text;
}

std::vector<std::string> numbers_as_names(std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t c = 0; c < count; ++c) names[c] = std::to_string(c);
  return names;
}

}  // namespace fcam
