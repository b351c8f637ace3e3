// Tables that the programs have written: a header and rows of fields without quotes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fcam::apps {

/// Errors are DataErrors that name file, line, what was expected and what was found.
class CsvTable {
 public:
  /// Throws where a row has not as many fields as the header, or a line is not ended.
  explicit CsvTable(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  bool has(const std::string& column) const;
  std::size_t rows() const { return rows_.size(); }
  /// Texts of lines that start with '#', which are no rows.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// Throws where there is no column of that name.
  const std::string& text(std::size_t row, const std::string& column) const;
  /// NaN where the field is empty. Throws where it is no number.
  double number(std::size_t row, const std::string& column) const;

 private:
  struct Row {
    std::vector<std::string> fields;
    std::size_t line = 0;
  };
  std::size_t column(const std::string& name) const;

  std::string path_;
  std::vector<std::string> header_, remarks_;
  std::vector<Row> rows_;
};

/// The first line of a file of text, without its end; empty where there is none.
std::string first_line(const std::string& path);

}  // namespace fcam::apps
