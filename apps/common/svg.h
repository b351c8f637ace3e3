// Pictures as SVG: panels with lines and heat maps, for light and dark backgrounds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/report_document.h"

namespace fcam::apps {

/// The colours that panels use, as CSS variables: dark on a dark screen, light elsewhere and in print.
std::string svg_style();

/// A text inside HTML, SVG or an attribute in double quotes: shown as typed, valid UTF-8, one line.
std::string escape_markup(std::string_view text);

/// A panel as an element that scales with its container.
std::string inline_svg(const Panel& panel);

/// The panels of a figure side by side, as a file.
std::string svg_file(const Figure& figure);

struct Line {
  std::string name;                               ///< in the legend; empty: not there
  std::string color;                              ///< a CSS colour, such as loss_color("sa")
  std::vector<std::pair<double, double>> points;  ///< those that are not finite are left out
  bool faint = false;
};

struct LinePanel {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  bool log_x = false;            ///< points with x <= 0 are left out
  bool from_zero = true;         ///< whether the y axis has 0
  double y_low = 0, y_high = 0;  ///< where both are 0: what the lines need
};
Panel draw(const LinePanel& panel);

struct HeatCell {
  double value = 0;       ///< share of all in [0,1]: shade, and percent
  std::string note = {};  ///< a smaller line below
};
struct HeatPanel {
  std::string title, subtitle, x_label, y_label;
  std::vector<std::vector<HeatCell>> cells;  ///< [r][c], r from bottom to top, edges at equal steps of [0,1]
};
Panel draw(const HeatPanel& panel);

/// The colour of a loss; of others than sa, ha and lv by its place among them.
std::string loss_color(const std::string& loss, std::size_t place);
/// The colour of line i of n that have an order.
std::string ordered_color(std::size_t i, std::size_t n);

}  // namespace fcam::apps
