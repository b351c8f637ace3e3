#include "fcam/training/log.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

struct Column {
  const char* name;
  double Metrics::*value;
};

constexpr Column columns[] = {{"loss", &Metrics::loss},
                              {"accuracy", &Metrics::accuracy},
                              {"ftpt", &Metrics::ftpt},
                              {"ffpt", &Metrics::ffpt},
                              {"ftpf", &Metrics::ftpf},
                              {"ffpf", &Metrics::ffpf},
                              {"focus_mean", &Metrics::focus_mean},
                              {"focus_entropy", &Metrics::focus_entropy},
                              {"saif", &Metrics::saif}};

// Of the training steps alone, after the others.
constexpr Column step_columns[] = {{"focus_gradient", &Metrics::focus_gradient},
                                   {"incentive", &Metrics::incentive},
                                   {"classify_forward", &Metrics::classify_forward},
                                   {"classify_backward", &Metrics::classify_backward}};

// The cells of a row without its line feed, each with the comma before it.
std::string cells(std::span<const Column> shown, const Metrics* metrics) {
  std::string text;
  for (const Column& column : shown) {
    text += ',';
    if (metrics != nullptr && !std::isnan(metrics->*column.value)) text += shortest(metrics->*column.value);
  }
  return text;
}

// The first line of `text` from byte `begin` on, with its line feed; without one where the file ends before.
std::string_view line_at(std::string_view text, std::size_t begin) {
  const std::size_t end = text.find('\n', begin);
  return text.substr(begin, end == std::string_view::npos ? end : end + 1 - begin);
}

bool is_row_of(std::string_view line, std::size_t epoch) {
  const std::string header = log_header();
  return line.starts_with(std::to_string(epoch) + ',') && line.ends_with('\n') &&
         std::count(line.begin(), line.end(), ',') == std::count(header.begin(), header.end(), ',');
}

// Requires a row with all its commas.
std::string without_test(std::string_view row) {
  std::size_t begin = 0;
  for (std::size_t cell = 0; cell <= std::size(columns); ++cell) begin = row.find(',', begin) + 1;
  std::size_t end = begin;
  for (std::size_t cell = 1; cell < std::size(columns); ++cell) end = row.find(',', end) + 1;
  return std::string(row.substr(0, begin)) + std::string(std::size(columns) - 1, ',') +
         std::string(row.substr(row.find(',', end)));
}

std::string describe(std::string_view line) {
  if (line.empty()) return "the end of the file";
  return quote(line.substr(0, 40)) + (line.ends_with('\n') ? "" : " at the end of the file");
}

}  // namespace

std::string log_header() {
  std::string text = "epoch";
  for (const char* prefix : {",", ",test_"}) {
    for (const Column& column : columns) text += std::string(prefix) + column.name;
  }
  text += ",seconds";
  for (const Column& column : step_columns) text += std::string(",") + column.name;
  return text + "\n";
}

std::string log_row(const Epoch& epoch) {
  return std::to_string(epoch.number) + cells(columns, &epoch.train) +
         cells(columns, epoch.test ? &*epoch.test : nullptr) + ',' +
         (std::isnan(epoch.seconds) ? "" : shortest(epoch.seconds)) + cells(step_columns, &epoch.train) + '\n';
}

Log::Log(const std::string& path) : Log(path, log_header()) {}

// Writes the content before it opens the file.
Log::Log(const std::string& path, const std::string& content)
    : file_((write_atomically(path, content), AppendFile(path))) {}

Log Log::resume(const std::string& path, std::size_t last_epoch, bool untested) {
  const std::string text = read_bytes(path);
  const std::string header = log_header();
  if (!text.starts_with(header)) {
    throw bad_input(path, "the header " + quote(std::string_view(header).substr(0, header.size() - 1)),
                    describe(line_at(text, 0)));
  }
  std::size_t end = header.size(), last_row = end;
  for (std::size_t epoch = 1; epoch <= last_epoch; ++epoch) {
    const std::string_view line = line_at(text, end);
    if (!is_row_of(line, epoch)) {
      throw bad_input(path, "the whole row of epoch " + std::to_string(epoch) + " of " + std::to_string(last_epoch),
                      describe(line));
    }
    last_row = end;
    end += line.size();
  }
  if (!untested || last_epoch == 0) return Log(path, text.substr(0, end));
  return Log(path, text.substr(0, last_row) + without_test(std::string_view(text).substr(last_row, end - last_row)));
}

void Log::append(const Epoch& epoch) { file_.append(log_row(epoch)); }

}  // namespace fcam
