// Heat maps of focus and classification as one figure (the paper's Figure 1).
#pragma once

#include <string>
#include <vector>

#include "common/gnuplot.h"
#include "fcam/analysis/heat_map.h"

namespace fcam::apps {

struct HeatMapPanel {
  std::string title;
  std::string subtitle;  ///< a smaller line below the title
  HeatMap map;
};

/// Draws heat maps side by side (five a row at most), shaded on one common scale from 0 to 100 percent, with the
/// percentage in each cell where there is room. Requires at least one panel. Files and errors as of run_gnuplot.
PlotResult draw_heat_maps(const std::vector<HeatMapPanel>& panels, const std::string& output_path);

}  // namespace fcam::apps
