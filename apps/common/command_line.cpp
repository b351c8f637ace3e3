#include "common/command_line.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

#include "common/toml.h"
#include "common/version.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"

namespace fcam::apps {

struct CommandLine::Options {
  struct Option {
    std::string name;
    CLI::Option* option;
    std::function<void(const std::string&)> assign;  // from text; lists: one call an element
    std::function<std::string()> to_toml;
    bool configurable = true;
    bool is_flag = false, is_list = false;
    bool given = false;
  };
  std::string program;
  CLI::App app;
  std::vector<std::unique_ptr<Option>> all;  // in the order of declaration
  std::string group = "Options", config_file;

  Option* find(const std::string& name) {
    for (const auto& option : all) {
      if (option->name == name) return option.get();
    }
    return nullptr;
  }

  void add(Option option, const std::string& help, const std::string& type, const std::string& default_text) {
    all.push_back(std::make_unique<Option>(std::move(option)));
    Option& added = *all.back();
    added.option = app.add_option_function<std::vector<std::string>>(
        "--" + added.name,
        [&added](const std::vector<std::string>& texts) {
          added.given = true;
          for (const auto& text : texts) added.assign(text);
        },
        help);
    added.option->type_name(type)->group(group)->expected(1);
    if (added.is_list) added.option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (!default_text.empty()) added.option->default_str(default_text);
  }

  void read_config(const std::string& file) {
    std::string text;
    try {
      text = read_bytes(file);
    } catch (const DataError& error) {
      throw UsageError(std::string("config: ") + error.what());
    }
    std::vector<std::string> known;
    for (const auto& option : all) {
      if (option->configurable) known.push_back(option->name);
    }
    for (const TomlEntry& entry : parse_toml(text, file)) {
      const std::string where = quote(file) + " line " + std::to_string(entry.line) + ": key: ";
      Option* option = find(entry.key);
      if (option == nullptr || !option->configurable) throw UsageError(where + unknown_name(entry.key, known));
      if (!option->is_list && entry.values.size() != 1) {
        throw UsageError(where + quote(entry.key) + ": expected one value, found " + std::to_string(entry.values.size()));
      }
      if (option->given) continue;  // the command line wins
      for (const auto& value : entry.values) option->assign(value);
      option->given = true;
    }
  }
};

CommandLine::CommandLine(std::string program, std::string description) : options_(std::make_unique<Options>()) {
  options_->program = std::move(program);
  options_->app.description(std::move(description));
  options_->app.name(options_->program);
  options_->app.set_help_flag();  // ours prints to stdout and comes before everything else
  options_->app.allow_extras();
  options_->app.get_formatter()->column_width(34);
}

CommandLine::~CommandLine() = default;

const std::string& CommandLine::program() const { return options_->program; }
void CommandLine::group(const std::string& title) { options_->group = title; }
void CommandLine::examples(const std::string& text) { options_->app.footer("\nExamples:\n" + text); }

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  auto& all = options_->all;
  all.push_back(std::make_unique<Options::Option>());
  Options::Option& added = *all.back();
  added.name = name;
  added.is_flag = true;
  added.assign = [&value, name](const std::string& text) {
    if (text != "true" && text != "false") throw UsageError(name + ": expected true or false, found " + quote(text));
    value = text == "true";
  };
  added.to_toml = [&value] { return std::string(value ? "true" : "false"); };
  added.option = options_->app.add_flag_callback(
      "--" + name,
      [&added] {
        added.given = true;
        added.assign("true");
      },
      help);
  added.option->group(options_->group);
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& help, const std::string& type) {
  options_->add({.name = name,
                 .option = nullptr,
                 .assign = [&value](const std::string& text) { value = text; },
                 .to_toml = [&value] { return value.empty() ? std::string() : toml_string(value); }},
                help, type, value);
}

void CommandLine::count(const std::string& name, std::size_t& value, std::size_t least, std::size_t largest,
                        const std::string& help) {
  const auto assign = [&value, name, least, largest](const std::string& text) {
    std::uint64_t parsed = 0;
    if (!parse_count(text, parsed) || parsed < least || parsed > largest) {
      throw UsageError(name + ": expected a whole number from " + std::to_string(least) +
                       (largest == std::numeric_limits<std::size_t>::max() ? " up" : " to " + std::to_string(largest)) +
                       ", found " + quote(text));
    }
    value = parsed;
  };
  options_->add({.name = name, .option = nullptr, .assign = assign, .to_toml = [&value] { return std::to_string(value); }},
                help, "N", std::to_string(value));
}

void CommandLine::number(const std::string& name, double& value, double least, double largest, const std::string& help) {
  const auto assign = [&value, name, least, largest](const std::string& text) {
    double parsed = 0;
    if (!parse_number(text, parsed) || parsed < least || parsed > largest) {
      throw UsageError(name + ": expected a number from " + shortest(least) +
                       (std::isinf(largest) ? " up" : " to " + shortest(largest)) + ", found " + quote(text));
    }
    value = parsed;
  };
  options_->add({.name = name,
                 .option = nullptr,
                 .assign = assign,
                 .to_toml = [&value] { return std::isnan(value) ? std::string() : shortest(value); }},
                help, "X", std::isnan(value) ? "" : shortest(value));
}

void CommandLine::list(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  const auto write = [&values] {
    std::string text;
    for (const auto& value : values) {
      if (!text.empty()) text += ", ";
      text += toml_string(value);
    }
    return values.empty() ? text : "[" + text + "]";
  };
  options_->add({.name = name,
                 .option = nullptr,
                 .assign =
                     [&values, fresh = true](const std::string& text) mutable {
                       if (std::exchange(fresh, false)) values.clear();  // the default
                       for (auto& part : split_list(text)) values.push_back(std::move(part));
                     },
                 .to_toml = write,
                 .is_list = true},
                help, "A,B,...", "");
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
  options_->add({.name = name,
                 .option = nullptr,
                 .assign = assign,
                 .to_toml = [&value] { return value.empty() ? std::string() : toml_string(value); }},
                help, type, value);
}

void CommandLine::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  options_->app.add_option(name, values, help);
}

void CommandLine::not_configurable(const std::string& name) { options_->find(name)->configurable = false; }

CommandLine::Outcome CommandLine::parse(int argc, const char* const* argv,
                                        const std::function<std::string()>& default_config) {
  Options& options = *options_;
  bool help = false, version = false;
  group("Options");
  options.app.add_option("--config", options.config_file, "TOML file of options; the command line wins over it")
      ->type_name("FILE");
  options.app.add_flag("--help,-h", help, "print this and exit");
  options.app.add_flag("--version", version, "print version, compiler and libraries and exit");
  try {
    options.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!help && !version) throw UsageError(error.what());
  }
  if (help) {
    std::cout << options.app.help();
    return Outcome::done;
  }
  if (version) {
    std::cout << version_text(options.program);
    return Outcome::done;
  }
  if (const auto extras = options.app.remaining(); !extras.empty()) {
    std::vector<std::string> known{"--config", "--help", "--version"};
    for (const auto& option : options.all) known.push_back("--" + option->name);
    const std::string name = extras[0].substr(0, extras[0].find('='));
    if (!name.starts_with("-")) throw UsageError("argument " + quote(extras[0]) + ": expected only options");
    throw UsageError("option: " + unknown_name(name, known));
  }
  if (!options.config_file.empty()) {
    options.read_config(options.config_file);
  } else if (default_config) {
    if (const std::string file = default_config(); !file.empty()) options.read_config(file);
  }
  return Outcome::run;
}

bool CommandLine::given(const std::string& name) const { return options_->find(name)->given; }

std::string CommandLine::to_toml() const {
  std::string text;
  for (const auto& option : options_->all) {
    if (!option->configurable) continue;
    const std::string value = option->to_toml();
    if (!value.empty()) text += option->name + " = " + value + "\n";
  }
  return text;
}

bool parse_count(const std::string& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_number(const std::string& text, double& value) {
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string part = CLI::detail::trim_copy(text.substr(begin, end - begin));
    if (!part.empty()) parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

}  // namespace fcam::apps
