// Figures by gnuplot, run as a child process without a shell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fcam::apps {

struct PlotSize {
  std::size_t width = 800, height = 500;  ///< in CSS pixels, 96 an inch; font sizes in scripts are in the same unit
};

struct PlotResult {
  bool drawn = false;
  std::string note;  ///< what to tell the user where it is not drawn
};

/// Throws UsageError unless the path ends in .svg, .png or .pdf: to be called before work whose result is plotted.
void check_plot_path(const std::string& output_path);

/// Runs gnuplot on a script, which brings its data along as datablocks and must set neither terminal nor output; texts
/// are plain ("noenhanced") unless the script says otherwise. Ensures a whole picture at `output_path`, or, where
/// gnuplot is not on PATH, the script at `output_path`.gp and a note that says so. Throws UsageError (extension),
/// WriteError (picture or script), or Error with gnuplot's complaint.
PlotResult run_gnuplot(const std::string& script, const std::string& output_path, PlotSize size = {});

/// A text as a gnuplot string: quoted so that nothing in it is executed or expanded, one line of valid UTF-8. It is
/// shown as typed where texts are "noenhanced".
std::string gnuplot_text(std::string_view text);

}  // namespace fcam::apps
