// Paths of the gradient flow as a figure (the paper's Figure 4).
#pragma once

#include <string>
#include <vector>

#include "common/gnuplot.h"
#include "fcam/dynamics/integrate.h"

namespace fcam::apps {

struct FlowCurve {
  Loss loss;
  Trajectory path;
};

/// Draws two panels over time, mu on the left and nu on the right, or the loss where the focus is held fixed; one
/// colour a loss. Times at zero are left out of a logarithmic axis. Files and errors as of run_gnuplot.
PlotResult draw_flow(const std::vector<FlowCurve>& curves, bool fixed_focus, bool log_time, const std::string& title,
                     const std::string& output_path);

}  // namespace fcam::apps
