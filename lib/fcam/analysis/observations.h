// The paper's observations on its Figures 1 to 4, each judged by one number and one threshold (docs/reproduction.md).
#pragma once

#include <string>
#include <vector>

#include "fcam/analysis/fixed_focus.h"
#include "fcam/analysis/heat_map.h"
#include "fcam/analysis/observation.h"

namespace fcam {

/// The heat maps of one loss, one a seed, with as many bins each.
struct LossHeatMaps {
  std::string loss;  ///< "sa", "ha" or "lv"; others are not judged
  std::vector<HeatMap> maps;
};

/// Each cell over the seeds, as HeatMap::at(r, c).
std::vector<std::vector<Spread>> cells_of(const std::vector<HeatMap>& maps);

/// Figure 1, from 5x5 heat maps of training mosaics, means over the seeds. Requires maps of 5 bins.
std::vector<Observation> judge_heat_maps(const std::vector<LossHeatMaps>& losses);

/// One training of g with attention held at alpha, measured before it and after each epoch.
struct FixedFocusCurve {
  std::string loss;
  double alpha = 0;
  std::vector<FixedFocus> epochs;  ///< from epoch 0
};

/// Figure 2, from the losses of the curves, as shares of the loss at the start. Requires as many epochs in all curves.
std::vector<Observation> judge_fixed_focus_losses(const std::vector<FixedFocusCurve>& curves);

/// Figure 3, from the exact incentives -dL/dalpha of the curves. Requires as many epochs in all curves.
std::vector<Observation> judge_incentives(const std::vector<FixedFocusCurve>& curves);

/// A point of gradient flow.
struct FlowPoint {
  double t = 0, mu = 0, nu = 0, alpha = 0, beta = 0, value = 0;
};
struct FlowPath {
  std::string loss;
  std::vector<FlowPoint> points;  ///< in the order of time
};

/// Figure 4, from one path a loss.
std::vector<Observation> judge_flow(const std::vector<FlowPath>& paths);

}  // namespace fcam
