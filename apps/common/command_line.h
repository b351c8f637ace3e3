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
/// Names are without dashes. An option stands once on a command line, and no value is empty. Errors are UsageError and
/// name the option, what was expected and what was found.
class CommandLine {
 public:
  CommandLine(std::string program, std::string description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Heading in --help of the options declared after it; empty: they are not shown there.
  void group(const std::string& title);
  /// Text at the end of --help.
  void examples(const std::string& text);

  void flag(const std::string& name, bool& value, const std::string& help);
  void text(const std::string& name, std::string& value, const std::string& help, const std::string& type = "TEXT");
  /// A file to be written, "-" for standard output, after what is printed there; for this call alone, as with
  /// not_recorded.
  void output(const std::string& name, std::string& value, const std::string& help, const std::string& type = "FILE");
  /// Decimal whole numbers in [least, largest]. The help shows the value as it is now as the default, or other words.
  void count(const std::string& name, std::size_t& value, std::size_t least, std::size_t largest,
             const std::string& help, const std::string& default_text = "");
  /// A finite decimal number in [least, largest].
  void number(const std::string& name, double& value, double least, double largest, const std::string& help);
  /// Comma-separated names; in a configuration file an array of them, whose elements may have commas.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// One of a few words, in any case.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  /// Any number of arguments without a dash.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// An option that is for this call alone: to_toml leaves it out.
  void not_recorded(const std::string& name);

  enum class Outcome { run, done };
  /// Reads the arguments, then for options not among them the file of --config, then for the rest the file
  /// `default_config()` where that is not empty (asked when all before is known): an input file, of which errors are
  /// DataErrors; with `whole` it is one that to_toml() wrote, which its last option shows to be all there. Prints help
  /// or version, and then says done.
  Outcome parse(int argc, const char* const* argv, const std::function<std::string()>& default_config = nullptr,
                bool whole = false);

  /// Whether an option stood on the command line or in a configuration file.
  bool given(const std::string& name) const;
  /// Whether it stood on the command line.
  bool typed(const std::string& name) const;
  /// All recorded options with their present values, as a configuration file.
  std::string to_toml() const;
  /// The present value of an option as it stands there, empty where it does not.
  std::string to_toml(const std::string& name) const;
  /// Names of the recorded options, in the order of declaration.
  std::vector<std::string> recorded() const;
  const std::string& program() const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

/// Reads a finite decimal number, whatever the locale, without zeros in front as parse_count (fcam/base/text.h).
bool parse_number(const std::string& text, double& value);
/// "a, b,c" -> {"a", "b", "c"}; parts may be empty, after the last a comma may follow.
std::vector<std::string> split_list(const std::string& text);

}  // namespace fcam::apps
