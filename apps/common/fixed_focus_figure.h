// Loss and incentive under fixed focus as figures (the paper's Figures 2 and 3).
#pragma once

#include <string>

#include "common/fixed_focus_series.h"
#include "common/gnuplot.h"

namespace fcam::apps {

enum class FixedFocusQuantity {
  loss,
  incentive,  ///< the difference as lines, step times the derivative as dots over them
};

/// Draws one panel a loss and one colour an alpha over the epochs, on the same scales. Requires at least one series.
/// Files and errors as of run_gnuplot.
PlotResult draw_fixed_focus(const SeriesMap& all, FixedFocusQuantity quantity, double step,
                            const std::string& output_path);

}  // namespace fcam::apps
