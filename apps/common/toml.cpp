#include "common/toml.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "fcam/base/error.h"

namespace fcam::apps {
namespace {

// Reads one file from left to right.
class TomlReader {
 public:
  TomlReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  }

  std::vector<TomlEntry> read() {
    std::vector<TomlEntry> entries;
    for (skip_to_content(); !rest_.empty(); skip_to_content()) {
      TomlEntry entry{.key = key(), .values = {}, .is_array = false, .line = line_};
      for (const TomlEntry& earlier : entries) {
        if (earlier.key == entry.key) {
          fail("key " + quote(entry.key), "once", "again, first on line " + std::to_string(earlier.line));
        }
      }
      skip_space();
      if (!take('=')) fail("key " + quote(entry.key), "'=' after it", next());
      skip_space();
      if (take('[')) {
        entry.is_array = true;
        for (skip_to_content(); !take(']'); skip_to_content()) {
          entry.values.push_back(value());
          skip_to_content();
          if (!rest_.empty() && rest_.front() != ']' && !take(',')) fail("array", "',' or ']'", next());
        }
      } else {
        entry.values.push_back(value());
      }
      skip_space();
      if (!rest_.empty() && rest_.front() == '#') skip_line();
      if (!rest_.empty() && rest_.front() != '\n') fail("value of " + quote(entry.key), "the end of the line", next());
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& expected, const std::string& found) const {
    throw UsageError(quote(file_) + " line " + std::to_string(line_) + ": " + what + ": expected " + expected +
                     ", found " + found);
  }
  std::string next() const {
    return rest_.empty() || rest_.front() == '\n' ? "the end of the line" : quote(rest_.substr(0, 1));
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }
  // Over white space, line ends and comments.
  void skip_to_content() {
    for (;;) {
      skip_space();
      if (!rest_.empty() && rest_.front() == '#') skip_line();
      if (!take('\n')) return;
      ++line_;
    }
  }

  std::string key() {
    if (rest_.front() == '"' || rest_.front() == '\'') return string();
    const std::string word = bare("-_");
    if (word.empty()) fail("key", "letters, digits, '-' or '_'", next());
    return word;
  }
  TomlValue value() {
    if (rest_.empty()) fail("value", "a string, number, true, false or array", next());
    if (rest_.front() == '"' || rest_.front() == '\'') return {string(), true};
    const std::string word = bare("-_+.");
    const bool starts_like_number =
        !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-' || word[0] == '+');
    if (word != "true" && word != "false" && !starts_like_number) {
      fail("value", "a string in quotes, a number, true, false or an array", word.empty() ? next() : quote(word));
    }
    return {word, false};
  }
  std::string bare(std::string_view besides) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), [&](unsigned char c) {
      return std::isalnum(c) != 0 || besides.find(static_cast<char>(c)) != std::string_view::npos;
    });
    std::string word(rest_.begin(), end);
    rest_.remove_prefix(word.size());
    return word;
  }
  std::string string() {
    const char mark = rest_.front();
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != '\n') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == mark) return text;
      if (c == '\\' && mark == '"') {
        escape(text);
      } else {
        text += c;
      }
    }
    fail("string", std::string(1, mark) + " at its end", "the end of the line");
  }
  void escape(std::string& text) {
    static constexpr std::string_view letters = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
    const char letter = rest_.empty() ? '\n' : rest_.front();
    const std::size_t place = letters.find(letter);
    if (place != std::string_view::npos) {
      text += meanings[place];
      rest_.remove_prefix(1);
      return;
    }
    const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    unsigned code = 0;
    if (digits == 0 || rest_.size() <= digits ||
        std::from_chars(rest_.data() + 1, rest_.data() + 1 + digits, code, 16).ptr != rest_.data() + 1 + digits ||
        code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      fail("string", "\\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX or \\UXXXXXXXX", "another escape");
    }
    rest_.remove_prefix(1 + digits);
    append_utf8(text, code);
  }
  static void append_utf8(std::string& text, unsigned code) {
    const auto byte = [&](unsigned value) { text += static_cast<char>(value); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        byte(0xe0 | code >> 12);
      } else {
        byte(0xf0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3f));
      }
      byte(0x80 | (code >> 6 & 0x3f));
    }
    byte(0x80 | (code & 0x3f));
  }

  std::string_view rest_;
  std::string file_;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& file) {
  return TomlReader(text, file).read();
}

std::string toml_string(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += "\\u00";
      result += digits[code >> 4];
      result += digits[code & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace fcam::apps
