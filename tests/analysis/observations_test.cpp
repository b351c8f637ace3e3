#include "fcam/analysis/observations.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

using namespace fcam;
using Catch::Matchers::Contains;

namespace {

// Counts of 100 mosaics: sure of both, label alone in doubt, focus alone in doubt; the rest is sure and wrong.
HeatMap map_of(int both_sure, int label_in_doubt, int focus_in_doubt) {
  HeatMap map(5);
  for (int i = 0; i < 100; ++i) {
    if (i < both_sure) {
      map.add(0.95, 0.95);
    } else if (i < both_sure + label_in_doubt) {
      map.add(0.95, i % 2 == 0 ? 0.21 : 0.79);
    } else if (i < both_sure + label_in_doubt + focus_in_doubt) {
      map.add(i % 2 == 0 ? 0.21 : 0.79, 0.95);
    } else {
      map.add(0.05, 0.05);
    }
  }
  return map;
}

const Observation& find(const std::vector<Observation>& all, const std::string& id, std::size_t which = 0) {
  for (const Observation& one : all) {
    if (one.id == id && which-- == 0) return one;
  }
  throw std::runtime_error("no observation " + id);
}

std::vector<LossHeatMaps> paper_maps() {
  return {{"sa", {map_of(44, 0, 36), map_of(47, 1, 40)}},
          {"ha", {map_of(54, 12, 1), map_of(55, 14, 2)}},
          {"lv", {map_of(79, 0, 3), map_of(80, 1, 3)}}};
}

using Course = std::function<double(double share)>;  // of the start, by the share of the epochs that is done

FixedFocusCurve curve(const std::string& loss, double alpha, const Course& value, const Course& derivative) {
  FixedFocusCurve result{loss, alpha, {}};
  for (int epoch = 0; epoch <= 100; ++epoch) {
    result.epochs.push_back({.loss = 3 * value(epoch / 100.0), .derivative = derivative(epoch / 100.0)});
  }
  return result;
}

Course falls_to(double floor, double speed) {
  return [=](double share) { return floor + (1 - floor) * std::exp(-speed * share); };
}
Course steady(double value) {
  return [=](double) { return value; };
}

// Curves as the paper shows them.
std::vector<FixedFocusCurve> paper_curves() {
  std::vector<FixedFocusCurve> curves;
  for (const double alpha : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    curves.push_back(curve("sa", alpha, falls_to(alpha < 0.4 ? 0.3 : 0.01, 10), steady(1.05 - alpha)));
    curves.push_back(curve("ha", alpha, falls_to(1 - alpha, 10), [=](double share) { return alpha * share; }));
    curves.push_back(curve("lv", alpha, falls_to(0.5 * (1 - alpha), 40), steady(2 - alpha)));
  }
  return curves;
}

std::vector<FixedFocusCurve> with(const std::string& loss, double alpha, const Course& value,
                                  const Course& derivative) {
  std::vector<FixedFocusCurve> curves = paper_curves();
  for (FixedFocusCurve& one : curves) {
    if (one.loss == loss && one.alpha == alpha) one = curve(loss, alpha, value, derivative);
  }
  return curves;
}

std::vector<FixedFocusCurve> without(const std::string& loss) {
  std::vector<FixedFocusCurve> curves = paper_curves();
  std::erase_if(curves, [&](const FixedFocusCurve& one) { return one.loss == loss; });
  return curves;
}

FlowPath path(const std::string& loss, double half_time, double last_nu) {
  return {loss, {{.t = 0, .value = 2}, {.t = 2 * half_time, .value = 0}, {.t = 100, .nu = last_nu, .value = 0}}};
}

}  // namespace

TEST_CASE("numbers as the paper's pictures have them make every observation of Figure 1 hold", "[observations]") {
  const auto all = judge_heat_maps(paper_maps());
  REQUIRE(all.size() == 7);
  for (const Observation& one : all) {
    CAPTURE(one.id);
    CHECK(one.verdict() == Verdict::holds);
  }
  CHECK(find(all, "1a").measured == Approx(0.005));
  CHECK(find(all, "1b").measured == Approx(0.38));
  CHECK(find(all, "1c").measured == Approx(0.13));
  CHECK(find(all, "1d").measured == Approx(0.015));
  CHECK(find(all, "1e").measured == Approx(0.005));
  CHECK(find(all, "1f").measured == Approx(0.03));
  CHECK(find(all, "1g").measured == Approx(0.795 - 0.545));
}

TEST_CASE("each observation of Figure 1 fails where the picture is another", "[observations]") {
  const auto verdict = [](const std::string& id, const std::string& loss, const HeatMap& map) {
    std::vector<LossHeatMaps> maps = paper_maps();
    for (LossHeatMaps& one : maps) {
      if (one.loss == loss) one.maps = {map};
    }
    return find(judge_heat_maps(maps), id).verdict();
  };
  CHECK(verdict("1a", "sa", map_of(40, 6, 30)) == Verdict::fails);
  CHECK(verdict("1b", "sa", map_of(80, 0, 5)) == Verdict::fails);
  CHECK(verdict("1c", "ha", map_of(60, 5, 0)) == Verdict::fails);
  CHECK(verdict("1d", "ha", map_of(50, 20, 6)) == Verdict::fails);
  CHECK(verdict("1e", "lv", map_of(70, 6, 0)) == Verdict::fails);
  CHECK(verdict("1f", "lv", map_of(70, 0, 6)) == Verdict::fails);
  CHECK(verdict("1g", "lv", map_of(58, 0, 0)) == Verdict::fails);  // higher, but not by 5 points
}

TEST_CASE("what is not there is not judged, and named", "[observations]") {
  const auto all = judge_heat_maps({{"sa", {map_of(44, 0, 36)}}, {"lv", {}}});
  CHECK(find(all, "1a").verdict() == Verdict::holds);
  for (const char* id : {"1c", "1e", "1g"}) {
    CAPTURE(id);
    CHECK(find(all, id).verdict() == Verdict::not_judged);
  }
  CHECK_THAT(find(all, "1c").missing, Contains("ha"));
  CHECK_THAT(find(all, "1e").missing, Contains("lv"));
  for (const auto& nothing :
       {judge_heat_maps({}), judge_fixed_focus_losses({}), judge_incentives({}), judge_flow({})}) {
    for (const Observation& one : nothing) {
      CAPTURE(one.id, one.statement);
      CHECK(one.verdict() == Verdict::not_judged);
      CHECK(!one.missing.empty());
    }
  }
}

TEST_CASE("mean and deviation of seeds are those of a sample", "[observations]") {
  const Spread three = spread_of({1, 2, 6});
  CHECK(three.n == 3);
  CHECK(three.mean == Approx(3));
  CHECK(three.deviation == Approx(std::sqrt(7.0)));
  CHECK(std::isnan(spread_of({4}).deviation));
  CHECK(spread_of({4}).mean == 4);
  CHECK(std::isnan(spread_of({}).mean));
  const auto cells = cells_of({map_of(40, 0, 0), map_of(60, 0, 0)});
  CHECK(cells[4][4].mean == Approx(0.5));
  CHECK(cells[4][4].deviation == Approx(std::sqrt(0.02)));
  CHECK(cells[0][0].mean == Approx(0.5));
}

TEST_CASE("curves as the paper's Figures 2 and 3 make their observations hold", "[observations]") {
  const auto losses = judge_fixed_focus_losses(paper_curves()), incentives = judge_incentives(paper_curves());
  REQUIRE(losses.size() == 7);
  REQUIRE(incentives.size() == 6);
  for (const auto& all : {losses, incentives}) {
    for (const Observation& one : all) {
      CAPTURE(one.id, one.statement, one.measured);
      CHECK(one.verdict() == Verdict::holds);
    }
  }
  CHECK(find(losses, "2a").measured == Approx(0.01).epsilon(0.01));
  CHECK(find(losses, "2b").measured == Approx(0.1).epsilon(1e-6));     // lv at 0.8
  CHECK(find(losses, "2c", 1).measured == Approx(0.1).epsilon(1e-3));  // at 0.8: 0.2 against 0.1
  CHECK(find(losses, "2d").measured == Approx(0).margin(1e-6));
  CHECK(find(losses, "2e").measured == Approx(0.2).epsilon(1e-3));
  CHECK(find(incentives, "3a", 1).measured == Approx(0.05));
  CHECK(find(incentives, "3b", 1).measured == Approx(0.2 * 0.255 / 0.755));  // means of epochs 1-50 and 51-100
  CHECK(find(incentives, "3c", 1).measured == Approx(1));
}

TEST_CASE("each observation of Figure 2 fails where a curve is another", "[observations]") {
  const auto verdict = [](const std::string& id, std::size_t which, const std::vector<FixedFocusCurve>& curves) {
    return find(judge_fixed_focus_losses(curves), id, which).verdict();
  };
  const Course steady_one = steady(1);
  CHECK(verdict("2a", 0, with("sa", 0.4, falls_to(0.06, 20), steady_one)) == Verdict::fails);
  CHECK(verdict("2a", 0, with("sa", 0.2, falls_to(0.9, 20), steady_one)) == Verdict::holds);
  CHECK(verdict("2b", 0, with("ha", 0.6, falls_to(0.04, 20), steady_one)) == Verdict::fails);
  CHECK(verdict("2b", 0, with("lv", 1, falls_to(0, 20), steady_one)) == Verdict::holds);
  CHECK(verdict("2b", 1,
                with(
                    "lv", 0.6, [](double share) { return 1 - 0.5 * share; }, steady_one)) == Verdict::fails);
  CHECK(verdict("2c", 0, with("sa", 0.6, falls_to(0, 100), steady_one)) == Verdict::fails);
  CHECK(verdict("2c", 1, with("lv", 0.6, falls_to(0.5, 40), steady_one)) == Verdict::fails);
  CHECK(verdict("2d", 0, with("sa", 0.8, falls_to(0.2, 20), steady_one)) == Verdict::fails);
  CHECK(verdict("2e", 0, with("ha", 0.2, falls_to(0.7, 20), steady_one)) == Verdict::fails);
}

TEST_CASE("each observation of Figure 3 fails where a curve is another", "[observations]") {
  const auto verdict = [](const std::string& id, std::size_t which, const std::vector<FixedFocusCurve>& curves) {
    return find(judge_incentives(curves), id, which).verdict();
  };
  const Course steady_one = steady(1);
  CHECK(verdict("3a", 0, with("sa", 0.6, steady_one, steady(0.8))) == Verdict::fails);
  CHECK(verdict("3a", 1, with("sa", 1, steady_one, steady(0.3))) == Verdict::fails);
  CHECK(verdict("3b", 0, with("ha", 1, steady_one, steady(0.1))) == Verdict::fails);
  CHECK(verdict("3b", 1, with("ha", 0.2, steady_one, steady(0.3))) == Verdict::fails);
  CHECK(verdict("3c", 0, with("lv", 1, steady_one, steady(1.5))) == Verdict::fails);
  CHECK(verdict("3c", 1, with("lv", 1, steady_one, steady(0.1))) == Verdict::fails);
}

TEST_CASE("curves that are missing or without an epoch are named by their loss", "[observations]") {
  const auto losses = judge_fixed_focus_losses(without("ha"));
  CHECK(find(losses, "2a").verdict() == Verdict::holds);
  CHECK_THAT(find(losses, "2b").missing, Contains("ha"));
  CHECK_THAT(find(losses, "2c").missing, Contains("lv and sa and ha"));
  CHECK_THAT(find(losses, "2e").missing, Contains("ha"));
  CHECK_THAT(find(judge_incentives(without("sa")), "3a", 1).missing, Contains("sa at alpha 1"));
  FixedFocusCurve untrained{"sa", 1, {{}}};
  CHECK(find(judge_fixed_focus_losses({untrained}), "2a").verdict() == Verdict::not_judged);
}

TEST_CASE("who halves the loss first and who has the largest nu decide Figure 4", "[observations]") {
  const auto holds = judge_flow({path("sa", 20, 1), path("ha", 30, 3), path("lv", 10, 2)});
  CHECK(find(holds, "4a").measured == Approx(0.5));
  CHECK(find(holds, "4a").verdict() == Verdict::holds);
  CHECK(find(holds, "4b").measured == Approx(1));
  CHECK(find(holds, "4b").verdict() == Verdict::holds);
  const auto fails = judge_flow({path("sa", 5, 4), path("ha", 30, 3), path("lv", 10, 2)});
  CHECK(find(fails, "4a").verdict() == Verdict::fails);
  CHECK(find(fails, "4b").verdict() == Verdict::fails);

  FlowPath short_path = path("lv", 10, 2);
  short_path.points.resize(2);
  CHECK_THAT(find(judge_flow({path("sa", 5, 4), path("ha", 30, 3), short_path}), "4b").missing, Contains("one time"));
  FlowPath flat = path("lv", 10, 2);
  for (FlowPoint& point : flat.points) point.value = 2;
  CHECK_THAT(find(judge_flow({path("sa", 5, 4), path("ha", 30, 3), flat}), "4a").missing, Contains("half"));
}
