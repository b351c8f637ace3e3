// The options of a program: declared once, read strictly from the command line and from a configuration file, and
// written back as one. This is the only door to CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fcam::apps {

/// Values are references to the program's own variables; what they hold when they are declared is the default.
/// Names are without dashes. Errors are UsageError and name the option, what was expected and what was found.
class CommandLine {
 public:
  CommandLine(std::string program, std::string description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Heading in --help of the options declared after it.
  void group(const std::string& title);
  /// Text at the end of --help.
  void examples(const std::string& text);

  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::string& value, const std::string& help, const std::string& type = "TEXT");
  /// Decimal whole numbers in [least, largest].
  void count(const std::string& name, std::size_t& value, std::size_t least, std::size_t largest, const std::string& help);
  /// A finite decimal number in [least, largest].
  void number(const std::string& name, double& value, double least, double largest, const std::string& help);
  /// Comma-separated names.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// One of a few words, in any case.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words, const std::string& help);
  /// Any number of arguments without a dash.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// An option that is for this call alone: not in configuration files.
  void not_configurable(const std::string& name);

  enum class Outcome { run, done };
  /// Reads the arguments, then for options not among them the file of --config, or else `default_config()` where that is
  /// not empty (asked after the arguments are known). Prints help or version, and then says done.
  Outcome parse(int argc, const char* const* argv, const std::function<std::string()>& default_config = nullptr);

  /// Whether an option stood on the command line or in the configuration file.
  bool given(const std::string& name) const;
  /// All configurable options with their present values.
  std::string to_toml() const;
  const std::string& program() const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

/// Reads a whole decimal number: no sign, no octal, no blanks. False where it is none or too large.
bool parse_count(const std::string& text, std::uint64_t& value);
/// Reads a finite decimal number, whatever the locale.
bool parse_number(const std::string& text, double& value);
/// "a, b,c" -> {"a", "b", "c"}; empty parts are dropped.
std::vector<std::string> split_list(const std::string& text);

}  // namespace fcam::apps
