// The part of TOML that a configuration file needs: `key = value` lines and comments, no tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fcam::apps {

struct TomlValue {
  std::string text;     ///< strings without quotes, numbers as written
  bool quoted = false;  ///< whether it is a string
};

struct TomlEntry {
  std::string key;
  std::vector<TomlValue> values;  ///< one, or the elements of an array
  bool is_array = false;
  std::size_t line = 0;  ///< where it stands, from 1
};

/// Reads strings (basic and literal, of one line), numbers, booleans and arrays of them. Throws UsageError naming
/// `file` and line where something else stands or a key is repeated.
std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& file);

/// A text as a TOML basic string, quotes included.
std::string toml_string(std::string_view text);

}  // namespace fcam::apps
