#include "common/svg.h"

#include <algorithm>
#include <array>

#include "common/utf8.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

constexpr std::size_t gap = 16;  // between panels of a file

std::string number(std::size_t value) { return std::to_string(value); }

std::string label_of(const Panel& panel) { return " role=\"img\" aria-label=\"" + escape_markup(panel.title) + "\""; }

}  // namespace

std::string svg_style() {
  const std::string dark =
      "--page:#14171c;--ink:#e6e9ee;--faint:#9aa3af;--grid:#333a45;--heat:#3f74b8;"
      "--sa:#6cb2ff;--ha:#ffb454;--lv:#62d394;--other0:#d6a0f5;--other1:#ff9aa2;"
      "--other2:#4fd1c5;--other3:#e0d060;--other4:#c2c7d0;--other5:#ff8ad4;--other6:#a3d65c;"
      "--o0:#b79cff;--o1:#6cb2ff;--o2:#4fd1c5;--o3:#a3d65c;--o4:#ffb454;--o5:#ff8a80;";
  const std::string light =
      "--page:#ffffff;--ink:#1b1f24;--faint:#59636e;--grid:#d8dde3;--heat:#5b9be0;"
      "--sa:#1f6fc4;--ha:#b35900;--lv:#12804a;--other0:#8444b5;--other1:#c0343f;"
      "--other2:#00817a;--other3:#7a6a00;--other4:#59636e;--other5:#b0307f;--other6:#4f7d00;"
      "--o0:#5b2fc4;--o1:#1f6fc4;--o2:#00817a;--o3:#4f7d00;--o4:#b35900;--o5:#c0262d;";
  return ":root{color-scheme:light dark;" + light + "}\n@media screen and (prefers-color-scheme:dark){:root{" + dark +
         "}}\n"
         "svg text{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:var(--ink);font-size:12px}\n"
         "svg .title{font-size:14px;font-weight:600}\nsvg .faint{fill:var(--faint)}\nsvg .small{font-size:10px}\n"
         "svg .middle{text-anchor:middle}\nsvg .end{text-anchor:end}\n"
         "svg .grid{stroke:var(--grid);stroke-width:1;fill:none}\nsvg .axis{stroke:var(--faint);stroke-width:1;"
         "fill:none}\nsvg .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
         "svg .line.faint{stroke-width:1;opacity:.45}\nsvg .dot{stroke-width:6}\n";
}

std::string escape_markup(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    switch (length == 0 ? '\0' : text[0]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += length == 0 ? "?" : byte < 0x20 || byte == 0x7f ? " " : std::string(text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

std::string inline_svg(const Panel& panel) {
  return "<svg viewBox=\"0 0 " + number(panel.width) + " " + number(panel.height) + "\"" + label_of(panel) + ">\n" +
         panel.elements + "</svg>\n";
}

std::string svg_file(const Figure& figure) {
  std::size_t width = gap, height = 0;
  std::string panels;
  for (const Panel& panel : figure.panels) {
    panels += "<svg x=\"" + number(width) + "\" y=\"" + number(gap) + "\" width=\"" + number(panel.width) +
              "\" height=\"" + number(panel.height) + "\"" + label_of(panel) + ">\n" + panel.elements + "</svg>\n";
    width += panel.width + gap;
    height = std::max(height, panel.height);
  }
  height += 2 * gap;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" viewBox=\"0 0 " + number(width) + " " + number(height) + "\">\n<style>\n" + svg_style() +
         "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--page)\"/>\n" + panels + "</svg>\n";
}

std::string loss_color(const std::string& loss, std::size_t place) {
  for (const char* own : {"sa", "ha", "lv"}) {
    if (loss == own) return "var(--" + loss + ")";
  }
  return "var(--other" + number(place % 7) + ")";
}

std::string ordered_color(std::size_t i, std::size_t n) {
  constexpr std::size_t colors = 6;
  const std::size_t place = n <= colors ? i : i * colors / n;
  return "var(--o" + number(std::min(place, colors - 1)) + ")";
}

}  // namespace fcam::apps
