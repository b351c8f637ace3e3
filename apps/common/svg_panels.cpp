#include <algorithm>
#include <cmath>
#include <limits>

#include "common/svg.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

std::string at(double value) { return shortest(std::round(100 * value) / 100); }

std::string text_at(double x, double y, const std::string& classes, const std::string& text,
                    const std::string& more = "") {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\"" + (classes.empty() ? "" : " class=\"" + classes + "\"") +
         more + ">" + escape_markup(text) + "</text>\n";
}

std::string upright_text_at(double x, double y, const std::string& text) {
  return text_at(x, y, "middle faint", text, " transform=\"rotate(-90 " + at(x) + " " + at(y) + ")\"");
}

std::string segment(double x1, double y1, double x2, double y2, const std::string& classes,
                    const std::string& more = "") {
  return "<path d=\"M" + at(x1) + " " + at(y1) + "L" + at(x2) + " " + at(y2) + "\" class=\"" + classes + "\"" + more +
         "/>\n";
}

// An axis from `low` to `high` on which ticks stand.
struct Axis {
  double low = 0, high = 1;
  bool log = false;
  std::vector<double> ticks = {};

  double place(double value) const {  // in [0,1]
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
};

// The smallest of 1, 2, 5, 10, ... times a power of ten that makes at most `most` steps.
double step_of(double range, double most) {
  const double least = range / most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

Axis linear_axis(double low, double high, bool widen) {
  if (!(low <= high)) low = 0, high = 1;  // nothing to show
  if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || high == low) {
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    if (low != 0) low -= room;
    high += room;
  }
  const double step = step_of(high - low, 5);
  Axis axis{low, high, false};
  if (widen) {
    const double below = step * std::floor(low / step + 1e-9);
    axis.low = low - below > 0.8 * step ? low : below;  // no empty step for a value just below a tick
    axis.high = step * std::ceil(high / step - 1e-9);
  }
  for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; ++k) {
    // A decimal number near the product, so that it prints short.
    const double decimals = std::pow(10, std::max(0.0, -std::floor(std::log10(step))));
    axis.ticks.push_back(std::round(k * step * decimals) / decimals + 0.0);  // and no -0
  }
  return axis;
}

Axis log_axis(double low, double high) {
  if (!(low <= high)) low = 1, high = 10;
  if (low == high) high = 10 * low;
  Axis axis{low, high, true};
  const double first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
  const double stride = std::max(1.0, std::ceil((last - first) / 6));
  for (double k = first; k <= last; k += stride) axis.ticks.push_back(std::pow(10, k));
  if (axis.ticks.empty()) axis.ticks = {low, high};
  return axis;
}

bool visible(const LinePanel& panel, const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second) && (!panel.log_x || point.first > 0);
}

std::string tick_text(double value) {
  const std::string text = shortest(value);
  return text.size() <= 7 ? text : shortest(std::stod(fixed(value, 4)));
}

constexpr double width = 360, height = 300, left = 58, right = 14, bottom = 48, line_height = 17;

// Names with a stroke of their colour, in as many rows as they need, below y.
std::string legend(const std::vector<Line>& lines, double& y) {
  constexpr double stroke = 14, letter = 6.8, space = 9;
  std::string text;
  double x = left;
  for (const Line& line : lines) {
    if (line.name.empty()) continue;
    const double needed = stroke + 4 + letter * static_cast<double>(line.name.size()) + space;
    if (x > left && x + needed > width) {
      x = left;
      y += line_height;
    }
    text += segment(x, y - 4, x + stroke, y - 4, "line", " style=\"stroke:" + line.color + "\"");
    text += text_at(x + stroke + 4, y, "", line.name);
    x += needed;
  }
  return text;
}

}  // namespace

Panel draw(const LinePanel& panel) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double x_low = infinity, x_high = -infinity, y_low = infinity, y_high = -infinity;
  for (const Line& line : panel.lines) {
    for (const auto& point : line.points) {
      if (!visible(panel, point)) continue;
      x_low = std::min(x_low, point.first), x_high = std::max(x_high, point.first);
      y_low = std::min(y_low, point.second), y_high = std::max(y_high, point.second);
    }
  }
  if (panel.from_zero && y_low <= y_high) y_low = std::min(0.0, y_low), y_high = std::max(0.0, y_high);
  if (panel.y_low != 0 || panel.y_high != 0) y_low = panel.y_low, y_high = panel.y_high;
  const Axis x_axis = panel.log_x ? log_axis(x_low, x_high) : linear_axis(x_low, x_high, false);
  const Axis y_axis = linear_axis(y_low, y_high, true);

  std::string svg = text_at(left, 18, "title", panel.title);
  double legend_y = 38;
  svg += legend(panel.lines, legend_y);
  const double top = legend_y + 14, inner_width = width - left - right, inner_height = height - top - bottom;
  const auto x_of = [&](double x) { return left + inner_width * x_axis.place(x); };
  const auto y_of = [&](double y) { return top + inner_height * (1 - std::clamp(y_axis.place(y), 0.0, 1.0)); };
  for (const double tick : y_axis.ticks) {
    svg += segment(left, y_of(tick), width - right, y_of(tick), "grid");
    svg += text_at(left - 7, y_of(tick) + 4, "end faint", tick_text(tick));
  }
  for (const double tick : x_axis.ticks) {
    svg += segment(x_of(tick), height - bottom, x_of(tick), height - bottom + 4, "axis");
    svg += text_at(x_of(tick), height - bottom + 18, "middle faint", tick_text(tick));
  }
  svg += segment(left, height - bottom, width - right, height - bottom, "axis");
  svg += text_at(left + inner_width / 2, height - 10, "middle faint", panel.x_label);
  svg += upright_text_at(14, top + inner_height / 2, panel.y_label);
  for (const Line& line : panel.lines) {
    std::string path;
    std::size_t count = 0;
    for (const auto& point : line.points) {
      if (!visible(panel, point)) continue;
      ++count;
      path += (path.empty() ? "M" : "L") + at(x_of(point.first)) + " " + at(y_of(point.second));
    }
    if (count == 0) continue;
    if (count == 1) path += "h0";  // a dot, by its round ends
    svg += "<path d=\"" + path + "\" class=\"line" +
           (line.faint   ? " faint"
            : count == 1 ? " dot"
                         : "") +
           "\" style=\"stroke:" + line.color + "\"/>\n";
  }
  return {static_cast<std::size_t>(width), static_cast<std::size_t>(height), std::move(svg), panel.title};
}

Panel draw(const HeatPanel& panel) {
  constexpr double cell = 50, start = 58, top = 74, sums = 46, foot = 52;
  const std::size_t bins = panel.cells.size();
  const auto n = static_cast<double>(bins);
  const double side = cell * n;
  const auto percent = [](double share) { return fixed(std::round(1000 * share) / 10, 1); };
  std::string svg = text_at(start, 18, "title", panel.title) + text_at(start, 37, "faint", panel.subtitle);
  std::vector<double> column_sums(bins);
  for (std::size_t r = 0; r < bins; ++r) {
    const double y = top + cell * (n - 1 - static_cast<double>(r));
    double row_sum = 0;
    for (std::size_t c = 0; c < bins; ++c) {
      const HeatCell& here = panel.cells[r][c];
      const double x = start + cell * static_cast<double>(c);
      // The root shows small shares, too.
      svg +=
          "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(cell) + "\" height=\"" + at(cell) +
          "\" class=\"grid\" style=\"fill:var(--heat);fill-opacity:" + at(std::sqrt(std::clamp(here.value, 0.0, 1.0))) +
          "\"/>\n";
      svg += text_at(x + cell / 2, y + cell / 2 + (here.note.empty() ? 4 : 0), "middle", percent(here.value));
      if (!here.note.empty()) svg += text_at(x + cell / 2, y + cell / 2 + 14, "middle small", here.note);
      row_sum += here.value;
      column_sums[c] += here.value;
    }
    svg += text_at(start + side + 8, y + cell / 2 + 4, "faint", percent(row_sum));
  }
  for (std::size_t c = 0; c < bins; ++c) {
    svg += text_at(start + cell * (static_cast<double>(c) + 0.5), top - 8, "middle faint", percent(column_sums[c]));
  }
  for (std::size_t k = 0; k <= bins; ++k) {
    const double edge = static_cast<double>(k) / n;
    const std::string text = tick_text(std::round(100 * edge) / 100);
    svg += text_at(start + side * edge, top + side + 18, "middle faint", text);
    svg += text_at(start - 7, top + side * (1 - edge) + 4, "end faint", text);
  }
  svg += text_at(start + side / 2, top + side + 40, "middle faint", panel.x_label);
  svg += upright_text_at(14, top + side / 2, panel.y_label);
  return {static_cast<std::size_t>(start + side + sums), static_cast<std::size_t>(top + side + foot), std::move(svg),
          panel.title + ", " + panel.subtitle};
}

}  // namespace fcam::apps
