// A report as headings, paragraphs, tables and figures, before it is written in a format.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace fcam::apps {

/// A picture: SVG elements in a box of CSS pixels, with the colours of svg_style().
struct Panel {
  std::size_t width = 0, height = 0;
  std::string elements;
  std::string title;  ///< what a screen reader says
};

struct Figure {
  std::string name;  ///< of its file, without extension
  std::string caption;
  std::vector<Panel> panels;  ///< side by side where there is room
};

struct Table {
  struct Row {
    std::vector<std::string> cells;
    std::string mark = {};  ///< "good", "bad", "open": shows in the last cell; empty: none
  };
  std::vector<std::string> header;
  std::vector<Row> rows;
  bool prose = false;  ///< cells are sentences: one below the other on a narrow screen
};

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};
struct List {
  std::vector<std::string> items;
};

struct Report {
  std::string title;
  std::vector<std::variant<Heading, Paragraph, List, Table, Figure>> blocks;
};

/// One file that needs no other, no network and no script; light and dark, narrow and wide, print. Texts are shown as
/// typed.
std::string to_html(const Report& report);

/// The same, with the pictures as files FOLDER/NAME.svg beside it.
std::string to_markdown(const Report& report, const std::string& folder);

}  // namespace fcam::apps
