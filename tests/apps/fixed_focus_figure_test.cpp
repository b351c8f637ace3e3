#include "common/fixed_focus_figure.h"

#include <catch2/catch.hpp>
#include <set>

#include "fcam/base/error.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::apps;
using namespace fcam::test;

namespace {

SeriesMap curves(std::size_t losses, const std::vector<double>& alphas, double level = 1) {
  SeriesMap all;
  for (std::size_t loss = 0; loss < losses; ++loss) {
    for (const double alpha : alphas) {
      for (int epoch = 0; epoch < 5; ++epoch) all[{loss, alpha}].push_back({level / (1 + epoch), level / 50, level});
    }
  }
  return all;
}

std::string svg_of(const SeriesMap& all, FixedFocusQuantity quantity, double step = 0.01) {
  const TemporaryFolder folder;
  REQUIRE(draw_fixed_focus(all, quantity, step, folder.file("x.svg")).drawn);
  return read_file(folder.file("x.svg"));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace

TEST_CASE("the loss figure has a panel a paradigm, labelled axes and a key of every alpha", "[fixed]") {
  const std::string svg = svg_of(curves(3, {0.3, 0.7, 0.95}), FixedFocusQuantity::loss);
  for (const char* title : {"soft attention", "hard attention", "marginal likelihood"}) CHECK(count(svg, title) == 1);
  CHECK(count(svg, "training loss") == 1);
  CHECK(count(svg, ">epoch<") == 3);
  for (const char* alpha : {">0.3<", ">0.7<", ">0.95<"}) CHECK(count(svg, alpha) > 0);
}

TEST_CASE("the incentive figure shows the difference and, dashed, what the derivative predicts", "[fixed]") {
  const std::string svg = svg_of(curves(2, {0.3, 1}), FixedFocusQuantity::incentive, 0.125);
  const std::string loss = svg_of(curves(2, {0.3, 1}), FixedFocusQuantity::loss, 0.125);
  CHECK(count(svg, "soft attention") == 1);
  CHECK(count(svg, "marginal likelihood") == 0);
  CHECK(count(svg, "incentive") == 1);
  CHECK(count(svg, "0.125") == 2);  // on the axis, and where dashes are explained
  CHECK(count(svg, "<path") >= count(loss, "<path") + 4);
}

TEST_CASE("a value far off does not flatten the incentives of all others, and is counted", "[fixed]") {
  SeriesMap all = curves(3, {0.2, 0.6, 1});
  const std::string before = svg_of(all, FixedFocusQuantity::incentive);
  CHECK(count(before, "beyond the") == 0);
  all[{2, 1}][1].derivative = -1000;
  const std::string after = svg_of(all, FixedFocusQuantity::incentive);
  CHECK(count(after, "beyond the") == 1);
  CHECK(count(after, "axis: 1<") == 1);
  CHECK(count(after, ">-10<") == 0);  // a tick of an axis down to -10
}

TEST_CASE("figures of one series, of many alphas, and of numbers that are all zero are drawn", "[fixed]") {
  std::vector<double> many;
  for (int i = 0; i <= 20; ++i) many.push_back(i / 20.0);
  for (const auto quantity : {FixedFocusQuantity::loss, FixedFocusQuantity::incentive}) {
    CHECK(count(svg_of(curves(1, {1}), quantity), "soft attention") == 1);
    CHECK(count(svg_of(curves(3, {0.5, 1}, 0), quantity), "soft attention") == 1);
    CHECK(count(svg_of(curves(3, many), quantity), ">0.55<") > 0);
    CHECK(count(svg_of(curves(3, {0.5}, -1), quantity), "soft attention") == 1);
  }
}

TEST_CASE("figures of fixed focus are written as PNG and PDF too, and under no other name", "[fixed]") {
  const TemporaryFolder folder;
  for (const auto& [name, magic] : {std::pair("x.png", "\x89PNG"), {"x.pdf", "%PDF"}}) {
    REQUIRE(draw_fixed_focus(curves(2, {0.5, 1}), FixedFocusQuantity::loss, 0.01, folder.file(name)).drawn);
    CHECK(read_file(folder.file(name)).starts_with(magic));
  }
  CHECK_THROWS_AS(draw_fixed_focus(curves(1, {1}), FixedFocusQuantity::loss, 0.01, folder.file("x.gif")), UsageError);
}
