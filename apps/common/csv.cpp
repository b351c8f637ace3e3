#include "common/csv.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>

#include "common/command_line.h"
#include "fcam/base/file.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

CsvTable::CsvTable(const std::string& path) : path_(path) {
  const std::string text = read_bytes(path);
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++line_number;
    const std::string where = " in line " + std::to_string(line_number);
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) throw bad_input(path, "a line feed at the end" + where, "none");
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with('#')) {
      remarks_.push_back(line.substr(std::min<std::size_t>(2, line.size())));
      continue;
    }
    std::vector<std::string> fields = fields_of(line);
    if (header_.empty()) {
      header_ = std::move(fields);
    } else if (fields.size() != header_.size()) {
      throw bad_input(path, std::to_string(header_.size()) + " fields" + where, std::to_string(fields.size()));
    } else {
      rows_.push_back({std::move(fields), line_number});
    }
  }
}

bool CsvTable::has(const std::string& name) const {
  return std::find(header_.begin(), header_.end(), name) != header_.end();
}

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) throw bad_input(path_, "a column " + quote(name), "none of that name");
  return static_cast<std::size_t>(found - header_.begin());
}

const std::string& CsvTable::text(std::size_t row, const std::string& name) const {
  return rows_[row].fields[column(name)];
}

double CsvTable::number(std::size_t row, const std::string& name) const {
  const std::string& field = text(row, name);
  if (field.empty()) return std::nan("");
  double value = 0;
  if (!parse_number(field, value)) {
    throw bad_input(path_, "a number " + name + " in line " + std::to_string(rows_[row].line), quote(field));
  }
  return value;
}

std::string first_line(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string line(200, '\0');
  stream.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(stream.gcount()));
  return line.substr(0, line.find_first_of("\r\n"));
}

}  // namespace fcam::apps
