#include <algorithm>
#include <cmath>
#include <limits>

#include "fcam/analysis/observations.h"

namespace fcam {
namespace {

// "Converges" is taken as: the loss falls to half. For smaller losses docs/math.md says who is first.
constexpr double converged_loss = 0.5;

// When the loss has fallen to converged_loss of its start, interpolated between points; infinite: it does not.
double time_of_convergence(const FlowPath& path) {
  const double wanted = converged_loss * path.points.front().value;
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    const FlowPoint &now = path.points[i], &before = path.points[i - 1];
    if (now.value > wanted) continue;
    return before.t + (now.t - before.t) * (before.value - wanted) / (before.value - now.value);
  }
  return std::numeric_limits<double>::infinity();
}

struct ThreePaths {
  const FlowPath *soft, *hard, *marginal;
  std::string missing;
};

ThreePaths three_paths(const std::vector<FlowPath>& paths) {
  const auto find = [&](const char* loss) {
    const auto found =
        std::find_if(paths.begin(), paths.end(), [&](const FlowPath& path) { return path.loss == loss; });
    return found == paths.end() ? nullptr : &*found;
  };
  ThreePaths three{find("sa"), find("ha"), find("lv"), ""};
  for (const auto& [path, name] :
       {std::pair(three.soft, "sa"), std::pair(three.hard, "ha"), std::pair(three.marginal, "lv")}) {
    if (path == nullptr || path->points.empty()) three.missing = std::string("a path of ") + name;
  }
  if (three.missing.empty() && (three.soft->points.back().t != three.hard->points.back().t ||
                                three.soft->points.back().t != three.marginal->points.back().t)) {
    three.missing = "paths that end at one time";
  }
  return three;
}

Measured marginal_time_against_others(const ThreePaths& three) {
  if (!three.missing.empty()) return missing(three.missing);
  const double time = time_of_convergence(*three.marginal);
  if (std::isinf(time)) return missing("a path of lv on which the loss falls to half");
  return {time / std::min(time_of_convergence(*three.soft), time_of_convergence(*three.hard))};
}

Measured hard_gap_over_others(const ThreePaths& three) {
  if (!three.missing.empty()) return missing(three.missing);
  return {three.hard->points.back().nu - std::max(three.soft->points.back().nu, three.marginal->points.back().nu)};
}

}  // namespace

std::vector<Observation> judge_flow(const std::vector<FlowPath>& paths) {
  const ThreePaths three = three_paths(paths);
  return {
      at_most("4a", "LV converges first",
              "time until the loss is half of the start: LV against the faster of SA and HA", 1,
              marginal_time_against_others(three)),
      not_in_percent(above("4b", "HA ends with the largest nu", "nu of HA at the end less the larger of SA and LV", 0,
                           hard_gap_over_others(three))),
  };
}

}  // namespace fcam
