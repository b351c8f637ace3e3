#include "common/svg.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/markup.h"

using namespace fcam::apps;
using namespace fcam::test;
using Catch::Matchers::Contains;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

HeatPanel two_by_two(const std::string& title) {
  return {.title = title,
          .subtitle = "percent",
          .x_label = "a_z",
          .y_label = "s_y",
          .cells = {{{.value = 0.05}, {.value = 0.15}}, {{.value = 0.35}, {.value = 0.45, .note = "± 1.5"}}}};
}

}  // namespace

TEST_CASE("names cannot break out of markup", "[svg]") {
  CHECK(escape_markup("<b a=\"1\">&amp;") == "&lt;b a=&quot;1&quot;&gt;&amp;amp;");
  CHECK(escape_markup("caf\xe9 caf\xc3\xa9\n") == "caf? caf\xc3\xa9 ");
  const std::string name = "</text><script>alert(1)</script> & \"x\"";
  const Panel panel = draw(two_by_two(name));
  CHECK(markup_fault(inline_svg(panel)).empty());
  CHECK_THAT(inline_svg(panel), !Contains("<script"));
  const Panel lines = draw(LinePanel{
      .title = name, .x_label = name, .y_label = name, .lines = {{name, "var(--sa)", {{0, 1}, {1, 2}}, false}}});
  CHECK(markup_fault(svg_file({.name = "a", .caption = name, .panels = {panel, lines}})).empty());
}

TEST_CASE("a heat map has its lowest row at the bottom, percent in cells, and sums at its edges", "[svg]") {
  const std::string svg = draw(two_by_two("map")).elements;
  const auto y_of = [&](const std::string& text) {
    const std::size_t end = svg.find(">" + text + "<"), start = svg.rfind(" y=\"", end) + 4;
    return std::stod(svg.substr(start, end - start));
  };
  CHECK(y_of("5.0") > y_of("35.0"));
  CHECK(y_of("15.0") == y_of("5.0"));
  for (const char* text : {">20.0<", ">80.0<", ">40.0<", ">60.0<", ">± 1.5<"}) CHECK_THAT(svg, Contains(text));
}

TEST_CASE("lines leave out what has no place", "[svg]") {
  const double nan = std::nan("");
  const auto draw_one = [&](std::vector<std::pair<double, double>> points, bool log_x) {
    return draw(LinePanel{.title = "t",
                          .x_label = "x",
                          .y_label = "y",
                          .lines = {{"", "red", std::move(points), false}},
                          .log_x = log_x});
  };
  for (const bool log_x : {false, true}) {
    for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
             {}, {{nan, 1}}, {{1, nan}}, {{0, 0}}, {{1, 1}}, {{1, 0}, {1, 0}}, {{1e-300, 1e300}, {1, -1e300}}}) {
      const Panel panel = draw_one(points, log_x);
      CHECK(markup_fault(inline_svg(panel)).empty());
      CHECK_THAT(panel.elements, !Contains("nan") && !Contains("inf"));
    }
  }
  const auto steps_of_line = [&](std::vector<std::pair<double, double>> points, bool log_x) {
    const std::string svg = draw_one(std::move(points), log_x).elements;
    const std::size_t end = svg.find("\" class=\"line\"");
    return count(svg.substr(svg.rfind("<path", end), end - svg.rfind("<path", end)), "L");
  };
  CHECK_THAT(draw_one({{1, 2}, {2, nan}}, false).elements, Contains("h0\" class=\"line dot\""));
  CHECK(steps_of_line({{0, 1}, {1, 2}, {10, nan}, {100, 3}}, false) == 2);
  CHECK(steps_of_line({{0, 1}, {1, 2}, {10, nan}, {100, 3}}, true) == 1);
  CHECK(count(draw_one({{0, 1}, {1, 2}, {100, 3}}, true).elements, ">0<") == 1);  // on the y axis alone
}

TEST_CASE("ticks are short decimals, zero without a sign", "[svg]") {
  const std::string svg =
      draw(LinePanel{.title = "t", .x_label = "x", .y_label = "y", .lines = {{"", "red", {{0, 0.1}, {1, 0.3}}, false}}})
          .elements;
  for (const char* tick : {">0<", ">0.2<", ">0.8<", ">1<", ">0.1<", ">0.3<"}) CHECK_THAT(svg, Contains(tick));
  CHECK_THAT(svg, !Contains(">-0<") && !Contains("0000"));
}

TEST_CASE("pictures follow the colours of the screen, and are light in print", "[svg]") {
  const std::string style = svg_style();
  CHECK_THAT(style, Contains("@media screen and (prefers-color-scheme:dark)"));
  const std::string file = svg_file({.name = "a", .caption = "", .panels = {draw(two_by_two("m"))}});
  CHECK_THAT(file, Contains(style) && Contains("xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(count(file, "var(--heat)") == 4);
}
