#include "common/help_text.h"

#include <algorithm>

namespace fcam::apps {
namespace {

constexpr std::size_t width = 80, text_column = 26;

// Appends words to a text whose last line has `column` columns; lines that follow are indented.
void wrap(std::string& out, std::size_t column, const std::string& text, std::size_t indent) {
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t size = end - begin;
    if (!first && column + 1 + size > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out.append(text, begin, size);
    column += size;
    first = false;
    begin = end + 1;
  }
  out += '\n';
}

void add_entry(std::string& out, const HelpEntry& entry) {
  const std::string left = "  " + entry.name;
  out += left;
  if (left.size() + 2 > text_column) {
    out += "\n" + std::string(text_column, ' ');
  } else {
    out.append(text_column - left.size(), ' ');
  }
  wrap(out, text_column, entry.text, text_column);
}

}  // namespace

std::string help_text(const HelpPage& page) {
  std::string text;
  wrap(text, 0, page.description, 0);
  text += "Usage: " + page.usage + "\n";
  std::vector<std::string> groups;
  for (const HelpEntry& entry : page.entries) {
    if (!entry.group.empty() && std::find(groups.begin(), groups.end(), entry.group) == groups.end()) {
      groups.push_back(entry.group);
    }
  }
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const HelpEntry& entry : page.entries) {
      if (entry.group == group) add_entry(text, entry);
    }
  }
  return page.examples.empty() ? text : text + "\nExamples:\n" + page.examples;
}

}  // namespace fcam::apps
