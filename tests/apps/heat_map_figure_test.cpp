#include "common/heat_map_figure.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>

#include "support/temporary_folder.h"

using namespace fcam::apps;
using fcam::HeatMap;
using fcam::test::read_file;
using fcam::test::TemporaryFolder;

namespace {

// `high` of 8 mosaics in the top right cell, the others at the bottom left.
HeatMap map_of(int high, std::size_t bins = 5) {
  HeatMap map(bins);
  for (int k = 0; k < 8; ++k) k < high ? map.add(0.99, 0.99) : map.add(0.01, 0.01);
  return map;
}

std::string svg_of(const std::vector<HeatMapPanel>& panels) {
  const TemporaryFolder folder;
  REQUIRE(draw_heat_maps(panels, folder.file("x.svg")).drawn);
  return read_file(folder.file("x.svg"));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

double width_of(const std::string& svg) {
  std::smatch match;
  REQUIRE(std::regex_search(svg, match, std::regex("width=\"([0-9]+)\"")));
  return std::stod(match[1]);
}

}  // namespace

TEST_CASE("a heat map shows title, subtitle, both axes and the percentage of each cell", "[heat_map_figure]") {
  const std::string svg = svg_of({{"soft", "accuracy 0.9", map_of(7)}});
  for (const std::string text :
       {">soft<", ">accuracy 0.9<", ">87.5<", ">12.5<", "true foreground", "true class", "mosaics (%)"}) {
    INFO(text);
    CHECK(count(svg, text) == 1);
  }
  CHECK(count(svg, ">0<") == 23 + 3);  // the empty cells and the start of each axis
}

TEST_CASE("the dark cell has light text, and shades mean the same in every panel", "[heat_map_figure]") {
  const std::string svg = svg_of({{"a", "", map_of(8)}, {"b", "", map_of(4)}});
  CHECK(count(svg, ">100.0<") == 1);
  CHECK(count(svg, ">50.0<") == 2);
  const auto text_color = [&](const std::string& text) {
    const std::size_t fill = svg.rfind("fill=\"", svg.find(text)) + 6;
    return svg.substr(fill, svg.find('"', fill) - fill);
  };
  CHECK(text_color(">100.0<") == "rgb(255,255,255)");
  CHECK(text_color(">50.0<") == "rgb(26,26,26)");
  CHECK(count(svg, ">mosaics (%)<") == 1);  // one colour bar
}

TEST_CASE("panels stand side by side, at most five a row", "[heat_map_figure]") {
  const auto width = [](std::size_t panels) {
    return width_of(svg_of(std::vector<HeatMapPanel>(panels, {"t", "s", map_of(3)})));
  };
  const double one = width(1), two = width(2), five = width(5);
  CHECK(two > one + 200);
  CHECK(five == Approx(one + 4 * (two - one)).margin(2));
  CHECK(width(6) == Approx(one + 2 * (two - one)).margin(2));  // two rows of three
}

TEST_CASE("empty maps, one bin and many bins make a figure in every format", "[heat_map_figure]") {
  const TemporaryFolder folder;
  for (const std::string extension : {"svg", "png", "pdf"}) {
    const std::string path = folder.file("x." + extension);
    CHECK(draw_heat_maps({{"", "", HeatMap(1)}, {"empty", "", HeatMap(5)}, {"many", "", map_of(3, 40)}}, path).drawn);
    CHECK(std::filesystem::file_size(path) > 1000);
  }
  CHECK(svg_of({{"many", "", map_of(3, 40)}}).find(">37.5<") == std::string::npos);  // no room for numbers
  CHECK(svg_of({{"empty", "", HeatMap(5)}}).find("nan") == std::string::npos);
}

TEST_CASE("titles are shown as typed, the end of those that are too long", "[heat_map_figure]") {
  const TemporaryFolder folder;
  const std::string hostile = "`touch pwned` a_b^2 {x} it's";
  std::string long_one(300, 'x');
  long_one += "-é-the-end";
  const std::string svg = svg_of({{hostile, "@x_y", map_of(1)}, {long_one, "", map_of(1)}});
  CHECK(svg.find(">" + hostile + "<") != std::string::npos);
  CHECK(svg.find(">@x_y<") != std::string::npos);
  CHECK(svg.find("-é-the-end<") != std::string::npos);
  CHECK(svg.find(std::string(100, 'x')) == std::string::npos);
  CHECK_FALSE(std::filesystem::exists("pwned"));
}

TEST_CASE("a title of letters of several bytes is not cut within one", "[heat_map_figure]") {
  std::string title;
  for (int k = 0; k < 100; ++k) title += "→";
  for (const std::string end : {"", "a", "ab"}) {
    const std::string svg = svg_of({{title + end, "", map_of(1)}});
    CHECK(svg.find("…→") != std::string::npos);
    CHECK(svg.find("→" + end + "<") != std::string::npos);
  }
}
