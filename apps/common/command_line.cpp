#include "common/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

#include "common/help_text.h"
#include "common/toml.h"
#include "common/version.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

std::function<std::string()> string_writer(const std::string& value) {
  return [&value] { return value.empty() ? std::string() : toml_string(value); };
}

// Whether another digit follows a zero at the start of a number, after its sign.
bool has_leading_zero(std::string_view number) {
  if (!number.empty() && (number[0] == '+' || number[0] == '-')) number.remove_prefix(1);
  return number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9';
}

// A text that is no number as it should be.
std::string found_number(const std::string& text) {
  return "found " + quote(text) + (has_leading_zero(text) ? ", with a zero in front" : "");
}

}  // namespace

struct CommandLine::Options {
  using Assign = std::function<void(const std::string&)>;
  enum class Kind { flag, text, number, list };

  struct Option {
    std::string name;
    Kind kind = Kind::text;
    Assign assign;                                           // from the command line
    std::function<void(std::vector<std::string>)> elements;  // a list from an array
    std::function<std::string()> to_toml;
    bool recorded = true, given = false, typed = false;
  };

  std::string program;
  CLI::App app;
  std::vector<std::unique_ptr<Option>> all;  // in the order of declaration
  HelpPage page;
  std::string group = "Options", config_file;

  Option* find(const std::string& name) {
    for (const auto& option : all) {
      if (option->name == name) return option.get();
    }
    return nullptr;
  }
  std::vector<std::string> names(const std::string& dashes) const {
    std::vector<std::string> known;
    for (const auto& option : all) known.push_back(dashes + option->name);
    return known;
  }

  Option& add(Option option, const std::string& help, const std::string& type, const std::string& default_text) {
    all.push_back(std::make_unique<Option>(std::move(option)));
    Option& added = *all.back();
    page.entries.push_back({group, "--" + added.name + (type.empty() ? "" : " ") + type,
                            help + (default_text.empty() ? "" : " (default: " + default_text + ")")});
    return added;
  }
  void add_with_value(Option option, const std::string& help, const std::string& type,
                      const std::string& default_text) {
    Option& added = add(std::move(option), help, type, default_text);
    const auto read = [&added](const std::vector<std::string>& texts) {
      if (texts.size() > 1) {
        throw UsageError(added.name + ": expected once, found " + quote(texts[0]) + " and " + quote(texts[1]));
      }
      added.given = added.typed = true;
      added.assign(texts.at(0));
    };
    app.add_option_function<std::vector<std::string>>("--" + added.name, read)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  // Name of the option that an argument is, with "=value" or without; empty: it is none.
  std::string name_in(const std::string& argument) {
    if (!argument.starts_with("--")) return {};
    const std::string name = argument.substr(2, argument.find('=') - 2);
    return find(name) != nullptr || name == "config" || name == "help" || name == "version" ? name : std::string();
  }

  // What CLI11 has no good words for, or takes for something else: "--name=", "--flag=value", "--name --flag".
  void check_arguments(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
      const std::string name = name_in(arguments[i]);
      if (name.empty()) continue;
      const Option* option = find(name);
      const bool takes_value = option != nullptr ? option->kind != Kind::flag : name == "config";
      const std::size_t equals = arguments[i].find('=');
      if (equals != std::string::npos) {
        const std::string value = arguments[i].substr(equals + 1);
        if (!takes_value) throw UsageError(name + ": expected no value, found " + quote(value));
        if (value.empty()) throw UsageError(name + ": expected a value, found ''");
      } else if (takes_value && ++i < arguments.size() && !name_in(arguments[i]).empty()) {
        throw UsageError(name + ": expected a value, found the option " + quote(arguments[i]));
      }
    }
  }

  // An entry of a file as the value of an option.
  void assign(Option& option, const TomlEntry& entry) {
    const auto wrong = [&](const std::string& expected, const std::string& found) {
      throw UsageError(option.name + ": expected " + expected + ", found " + found);
    };
    if (option.kind == Kind::list && entry.is_array) {
      std::vector<std::string> elements;
      for (const TomlValue& value : entry.values) elements.push_back(value.text);
      return option.elements(std::move(elements));
    }
    if (entry.is_array) wrong("one value", "an array");
    const TomlValue& value = entry.values.at(0);
    if (option.kind == Kind::text && !value.quoted) wrong("a string in quotes", quote(value.text) + " without");
    if (option.kind == Kind::flag && value.quoted) wrong("true or false", "the string " + quote(value.text));
    if (option.kind == Kind::number && value.quoted) wrong("a number", "the string " + quote(value.text));
    option.assign(value.text);
  }

  // Returns the keys of the file.
  std::vector<std::string> read_config(const std::string& text, const std::string& file) {
    std::vector<std::string> keys;
    for (const TomlEntry& entry : parse_toml(text, file)) {
      const auto fail = [&](const std::string& why) {
        throw UsageError(quote(file) + " line " + std::to_string(entry.line) + ": " + why);
      };
      Option* option = find(entry.key);
      if (option == nullptr) fail("key: " + unknown_name(entry.key, names("")));
      keys.push_back(entry.key);
      if (option->given) continue;  // what was read before wins
      try {
        assign(*option, entry);
      } catch (const UsageError& error) {
        fail(error.what());
      }
      option->given = true;
    }
    return keys;
  }
};

CommandLine::CommandLine(std::string program, std::string description) : options_(std::make_unique<Options>()) {
  options_->page.description = std::move(description);
  options_->page.usage = program + " [OPTIONS]";
  options_->program = std::move(program);
  options_->app.set_help_flag();  // ours prints to stdout and comes before everything else
  options_->app.allow_extras();
}

CommandLine::~CommandLine() = default;

const std::string& CommandLine::program() const { return options_->program; }
void CommandLine::group(const std::string& title) { options_->group = title; }
void CommandLine::examples(const std::string& text) { options_->page.examples = text; }

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  const auto assign = [&value, name](const std::string& text) {
    if (text != "true" && text != "false") throw UsageError(name + ": expected true or false, found " + quote(text));
    value = text == "true";
  };
  const auto write = [&value] { return std::string(value ? "true" : "false"); };
  Options::Option& added = options_->add(
      {.name = name, .kind = Options::Kind::flag, .assign = assign, .elements = nullptr, .to_toml = write}, help, "",
      "");
  options_->app.add_flag_callback("--" + name, [&added, &value] {
    added.given = added.typed = true;
    value = true;
  });
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& help, const std::string& type) {
  const auto assign = [&value, name, type](const std::string& text) {
    if (text.empty()) throw UsageError(name + ": expected " + type + ", found ''");
    value = text;
  };
  options_->add_with_value({.name = name, .assign = assign, .elements = nullptr, .to_toml = string_writer(value)}, help,
                           type, value);
}

void CommandLine::output(const std::string& name, std::string& value, const std::string& help,
                         const std::string& type) {
  text(name, value, help, type);
  Options::Option& option = *options_->find(name);
  option.recorded = false;
  option.assign = [assign = option.assign](const std::string& text) { assign(text == "-" ? "/dev/stdout" : text); };
}

void CommandLine::count(const std::string& name, std::size_t& value, std::size_t least, std::size_t largest,
                        const std::string& help, const std::string& default_text) {
  const auto assign = [&value, name, least, largest](const std::string& text) {
    std::uint64_t parsed = 0;
    if (!parse_count(text, parsed) || parsed < least || parsed > largest) {
      throw UsageError(name + ": expected a whole number from " + std::to_string(least) + " to " +
                       std::to_string(largest) + ", " + found_number(text));
    }
    value = parsed;
  };
  const auto write = [&value] { return std::to_string(value); };
  options_->add_with_value(
      {.name = name, .kind = Options::Kind::number, .assign = assign, .elements = nullptr, .to_toml = write}, help, "N",
      default_text.empty() ? std::to_string(value) : default_text);
}

void CommandLine::number(const std::string& name, double& value, double least, double largest,
                         const std::string& help) {
  const auto assign = [&value, name, least, largest](const std::string& text) {
    double parsed = 0;
    if (!parse_number(text, parsed) || parsed < least || parsed > largest) {
      throw UsageError(name + ": expected a number from " + shortest(least) +
                       (std::isinf(largest) ? " up" : " to " + shortest(largest)) + ", " + found_number(text));
    }
    value = parsed;
  };
  const auto write = [&value] { return std::isnan(value) ? std::string() : shortest(value); };
  options_->add_with_value(
      {.name = name, .kind = Options::Kind::number, .assign = assign, .elements = nullptr, .to_toml = write}, help, "X",
      write());
}

void CommandLine::list(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  const auto elements = [&values, name](std::vector<std::string> parts) {
    for (const auto& part : parts) {
      if (part.empty()) throw UsageError(name + ": expected names, found an empty one");
    }
    if (parts.empty()) throw UsageError(name + ": expected at least one name, found none");
    values = std::move(parts);
  };
  const auto assign = [elements](const std::string& text) { elements(split_list(text)); };
  const auto write = [&values] {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "[" : ", ") + toml_string(value);
    return values.empty() ? text : text + "]";
  };
  options_->add_with_value(
      {.name = name, .kind = Options::Kind::list, .assign = assign, .elements = elements, .to_toml = write}, help,
      "A,B,...", "");
}

void CommandLine::choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
                         const std::string& help) {
  const auto assign = [&value, name, words](const std::string& text) {
    const std::string lower = CLI::detail::to_lower(text);
    for (const auto& word : words) {
      if (word == lower) {
        value = word;
        return;
      }
    }
    throw UsageError(name + ": " + unknown_name(text, words));
  };
  std::string type;
  for (const auto& word : words) type += (type.empty() ? "" : "|") + word;
  options_->add_with_value({.name = name, .assign = assign, .elements = nullptr, .to_toml = string_writer(value)}, help,
                           type, value);
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  options_->app.add_option(name, values);
  options_->page.usage += " [" + name + "...]";
  options_->page.entries.push_back({"Arguments", name + "...", help});
}

void CommandLine::not_recorded(const std::string& name) { options_->find(name)->recorded = false; }

CommandLine::Outcome CommandLine::parse(int argc, const char* const* argv,
                                        const std::function<std::string()>& default_config, bool whole) {
  Options& options = *options_;
  CLI::Option* config = options.app.add_option("--config", options.config_file);
  CLI::Option* help = options.app.add_flag("--help,-h");
  CLI::Option* version = options.app.add_flag("--version");
  for (const auto& [name, text] : {std::pair("--config FILE", "TOML file of options; the command line wins over it"),
                                   std::pair("--help, -h", "print this and exit"),
                                   std::pair("--version", "print version, compiler and libraries and exit")}) {
    options.page.entries.push_back({"Common options", name, text});
  }
  try {
    options.check_arguments({argv + 1, argv + argc});
    options.app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--name: ..."
    const std::string name = what.starts_with("--") ? what.substr(2, what.find(':') - 2) : what;
    if (help->empty() && version->empty()) {
      throw UsageError(name +
                       (config->count() > 1 ? ": expected once, found again" : ": expected a value, found none"));
    }
  } catch (const CLI::ParseError& error) {
    if (help->empty() && version->empty()) throw UsageError(error.what());
  } catch (const UsageError&) {
    if (help->empty() && version->empty()) throw;
  }
  if (!help->empty()) {
    std::cout << help_text(options.page);
    return Outcome::done;
  }
  if (!version->empty()) {
    std::cout << version_text(options.program);
    return Outcome::done;
  }
  for (const std::string& extra : options.app.remaining()) {
    if (extra == "--") continue;
    if (!extra.starts_with("-")) throw UsageError("argument: expected only options, found " + quote(extra));
    std::vector<std::string> known = options.names("--");
    known.insert(known.end(), {"--config", "--help", "--version"});
    throw UsageError("option: " + unknown_name(extra.substr(0, extra.find('=')), known));
  }
  if (!config->empty()) {
    if (options.config_file.empty()) throw UsageError("config: expected FILE, found ''");
    std::string text;
    try {
      text = read_bytes(options.config_file);
    } catch (const DataError& error) {
      throw UsageError(std::string("config: ") + error.what());
    }
    options.read_config(text, options.config_file);
  }
  if (const std::string file = default_config ? default_config() : std::string(); !file.empty()) {
    const std::string text = read_bytes(file);
    std::vector<std::string> keys;
    try {
      keys = options.read_config(text, file);
    } catch (const UsageError& error) {
      throw DataError(error.what());
    }
    if (const std::string last = recorded().back(); whole && std::find(keys.begin(), keys.end(), last) == keys.end()) {
      throw DataError(quote(file) + ": expected all options of a run, with " + quote(last) +
                      " at the end, found none of that name (is the file whole?)");
    }
  }
  return Outcome::run;
}

bool CommandLine::given(const std::string& name) const { return options_->find(name)->given; }

bool CommandLine::typed(const std::string& name) const { return options_->find(name)->typed; }

std::string CommandLine::to_toml(const std::string& name) const { return options_->find(name)->to_toml(); }

std::vector<std::string> CommandLine::recorded() const {
  std::vector<std::string> names;
  for (const auto& option : options_->all) {
    if (option->recorded) names.push_back(option->name);
  }
  return names;
}

std::string CommandLine::to_toml() const {
  std::string text;
  for (const std::string& name : recorded()) {
    const std::string value = to_toml(name);
    if (!value.empty()) text += name + " = " + value + "\n";
  }
  return text;
}

bool parse_number(const std::string& text, double& value) {
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && !has_leading_zero(text);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(CLI::detail::trim_copy(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace fcam::apps
