// Tiny runs of the programs, and readers of what they leave.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fcam/base/random.h"
#include "fcam/data/npy.h"
#include "support/process.h"
#include "support/temporary_folder.h"

namespace fcam::test {

/// The words of a text without quotes.
inline std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

/// A program with the words of `options`, then `more` as they are, to be run in a folder.
inline Command command(const TemporaryFolder& folder, const std::string& options, std::vector<std::string> more = {}) {
  Command result{.arguments = words(options), .folder = folder.path().string()};
  result.arguments.insert(result.arguments.end(), more.begin(), more.end());
  return result;
}

/// Items with these labels from 0 to 3, as numbers near a pattern of their class.
inline std::vector<float> labelled_items(const std::vector<std::int64_t>& labels, std::size_t size,
                                         std::uint64_t seed) {
  Random random(seed, "test items");
  std::vector<float> values;
  for (const std::int64_t label : labels) {
    for (std::size_t i = 0; i < size; ++i) {
      const bool lit = i % 4 == static_cast<std::size_t>(label);
      values.push_back(static_cast<float>((lit ? 1.5 : 0.0) + 0.5 * random.normal()));
    }
  }
  return values;
}

/// Files x and y of `count` items of four classes in turn.
inline void write_items(const std::string& folder, const std::string& split, std::size_t count, const Shape& item) {
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int64_t>(i % 4));
  Shape shape{count};
  shape.insert(shape.end(), item.begin(), item.end());
  write_npy(folder + "/x_" + split + ".npy", shape, labelled_items(labels, element_count(item), split.size()));
  write_npy(folder + "/y_" + split + ".npy", {count}, labels);
}

/// The option for such data, small enough to be read and learnt in no time.
inline const std::string& tiny_source() {
  struct Data {
    Data() {
      write_items(folder.path().string(), "train", 120, {1, 6, 6});
      write_items(folder.path().string(), "test", 80, {1, 6, 6});
      option = " --data npy:" + folder.path().string() + " ";
    }
    TemporaryFolder folder;
    std::string option;
  };
  static const Data data;
  return data.option;
}

/// With sizes.
inline std::string tiny_data() { return tiny_source() + "--train 200 --test 100 --patches 3 "; }

/// And with small networks.
inline std::string tiny() { return tiny_data() + "--focus mlp --classify mlp "; }

/// fcam-train on 200 mosaics for 2 epochs unless the options say otherwise.
inline Command training(const TemporaryFolder& folder, const std::string& options, std::vector<std::string> more = {}) {
  const bool epochs = options.find("--epochs") != std::string::npos;
  return command(folder, "fcam-train" + tiny() + (epochs ? "" : "--epochs 2 ") + options, std::move(more));
}

/// Runs it, and throws unless it exits with 0.
inline Result run_well(const Command& what) {
  Result result = run(what);
  if (result.code != 0) throw std::runtime_error("exit code " + std::to_string(result.code) + ": " + result.err);
  return result;
}

/// Exit code and whole stderr of what is expected to fail with one line there and nothing on stdout; the line.
inline std::string error_of(const Command& what, int code) {
  const Result result = run(what);
  const bool one_line = std::count(result.err.begin(), result.err.end(), '\n') == 1 && result.err.ends_with('\n');
  if (result.code != code || !one_line || !result.out.empty()) {
    throw std::runtime_error("expected exit code " + std::to_string(code) + " and one line, found " +
                             std::to_string(result.code) + ": " + result.err + result.out);
  }
  return result.err;
}

inline nlohmann::json read_json(const std::string& path) { return nlohmann::json::parse(read_file(path)); }

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// A CSV file without quotes.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  std::size_t column(const std::string& name) const {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) throw std::runtime_error("no column " + name);
    return static_cast<std::size_t>(found - header.begin());
  }
  const std::string& text(std::size_t row, const std::string& name) const { return rows.at(row).at(column(name)); }
  double number(std::size_t row, const std::string& name) const { return std::stod(text(row, name)); }
};

inline Table read_table(const std::string& path) {
  Table table;
  const std::string text = read_file(path);
  if (!text.ends_with('\n')) throw std::runtime_error(path + " has no final line feed");
  for (const std::string& line : split(text.substr(0, text.size() - 1), '\n')) {
    if (table.header.empty()) {
      table.header = split(line, ',');
    } else {
      table.rows.push_back(split(line, ','));
      if (table.rows.back().size() != table.header.size()) throw std::runtime_error(path + ": odd row " + line);
    }
  }
  return table;
}

/// The rows of log.csv without the seconds.
inline std::vector<std::vector<std::string>> log_without_seconds(const std::string& path) {
  Table table = read_table(path);
  const auto seconds = static_cast<std::ptrdiff_t>(table.column("seconds"));
  for (auto& row : table.rows) row.erase(row.begin() + seconds);
  return table.rows;
}

}  // namespace fcam::test
