#include <cctype>
#include <string_view>

#include "common/report_document.h"
#include "common/svg.h"

namespace fcam::apps {
namespace {

// A text that Markdown shows as typed, on one line.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : escape_markup(text)) {
    if (std::string_view("\\`*_[]#|~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + plain(cell) + " |";
  return row + "\n";
}

struct ToMarkdown {
  const std::string& folder;

  std::string operator()(const Heading& heading) const { return "## " + plain(heading.text) + "\n\n"; }
  std::string operator()(const Paragraph& paragraph) const { return plain(paragraph.text) + "\n\n"; }
  std::string operator()(const List& list) const {
    std::string text;
    for (const std::string& item : list.items) text += "- " + plain(item) + "\n";
    return text + "\n";
  }
  std::string operator()(const Table& table) const {
    std::string text = row_of(table.header) + "|";
    for (std::size_t i = 0; i < table.header.size(); ++i) text += " --- |";
    text += "\n";
    for (const Table::Row& row : table.rows) text += row_of(row.cells);
    return text + "\n";
  }
  std::string operator()(const Figure& figure) const {
    return "![" + plain(figure.caption) + "](" + folder + "/" + figure.name + ".svg)\n\n" + plain(figure.caption) +
           "\n\n";
  }
};

}  // namespace

std::string to_markdown(const Report& report, const std::string& folder) {
  std::string text = "# " + plain(report.title) + "\n\n";
  for (const auto& block : report.blocks) text += std::visit(ToMarkdown{folder}, block);
  text.pop_back();
  return text;
}

}  // namespace fcam::apps
