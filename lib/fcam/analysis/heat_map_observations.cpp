#include <algorithm>
#include <cassert>
#include <functional>

#include "fcam/analysis/observations.h"

namespace fcam {
namespace {

// Of all training mosaics.
constexpr double small_share = 0.05;   // middle rows or columns up to it are "near zero", above it "not negligible"
constexpr double clear_margin = 0.05;  // of the highest SAIF over the next

double middle_rows(const HeatMap& map) {
  double sum = 0;
  for (std::size_t r = 1; r < 4; ++r) {
    for (std::size_t c = 0; c < 5; ++c) sum += map.at(r, c);
  }
  return sum;
}

double middle_columns(const HeatMap& map) {
  double sum = 0;
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t c = 1; c < 4; ++c) sum += map.at(r, c);
  }
  return sum;
}

Measured mean_over_seeds(const std::vector<LossHeatMaps>& losses, const std::string& loss,
                         const std::function<double(const HeatMap&)>& number) {
  const auto found = std::find_if(losses.begin(), losses.end(), [&](const auto& maps) { return maps.loss == loss; });
  if (found == losses.end() || found->maps.empty()) return {.missing = "finished runs of " + loss};
  std::vector<double> values;
  for (const HeatMap& map : found->maps) {
    assert(map.bins() == 5);
    values.push_back(number(map));
  }
  return {spread_of(values).mean};
}

}  // namespace

std::vector<std::vector<Spread>> cells_of(const std::vector<HeatMap>& maps) {
  const std::size_t bins = maps.empty() ? 0 : maps[0].bins();
  std::vector<std::vector<Spread>> cells(bins, std::vector<Spread>(bins));
  for (std::size_t r = 0; r < bins; ++r) {
    for (std::size_t c = 0; c < bins; ++c) {
      std::vector<double> values;
      for (const HeatMap& map : maps) values.push_back(map.at(r, c));
      cells[r][c] = spread_of(values);
    }
  }
  return cells;
}

std::vector<Observation> judge_heat_maps(const std::vector<LossHeatMaps>& losses) {
  const auto rows = [&](const char* loss) { return mean_over_seeds(losses, loss, middle_rows); };
  const auto columns = [&](const char* loss) { return mean_over_seeds(losses, loss, middle_columns); };
  const auto saif = [&](const char* loss) {
    return mean_over_seeds(losses, loss, [](const HeatMap& map) { return map.saif(); });
  };
  const Measured soft = saif("sa"), hard = saif("ha"), marginal = saif("lv");
  Measured margin{marginal.value - std::max(soft.value, hard.value)};
  for (const Measured& one : {soft, hard, marginal}) {
    if (!one.missing.empty()) margin = one;
  }
  const std::string in_rows = "mosaics in the middle three rows", in_columns = "mosaics in the middle three columns";
  return {
      at_most("1a", "SA is sure of the label", in_rows + " of SA", small_share, rows("sa")),
      above("1b", "SA is not sure where to look", in_columns + " of SA", small_share, columns("sa")),
      above("1c", "HA is not sure of the label", in_rows + " of HA", small_share, rows("ha")),
      at_most("1d", "HA is sure where to look, right or wrong", in_columns + " of HA", small_share, columns("ha")),
      at_most("1e", "LV is sure of the label", in_rows + " of LV", small_share, rows("lv")),
      at_most("1f", "LV is sure where to look", in_columns + " of LV", small_share, columns("lv")),
      above("1g", "LV's SAIF is the highest", "SAIF of LV less the larger one of SA and HA", clear_margin, margin),
  };
}

}  // namespace fcam
