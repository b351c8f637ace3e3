#include <algorithm>
#include <cmath>

#include "common/plot_range.h"
#include "common/report_sections.h"
#include "common/svg.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

using Number = double FixedFocus::*;

// All values of a number, so that panels share a scale.
PlotRange range_of(const FixedFocusSet& set, Number number) {
  std::vector<double> values;
  for (const FixedFocusCurve& curve : set.curves) {
    for (const FixedFocus& at : curve.epochs) values.push_back(at.*number);
  }
  return range_without_outliers(std::move(values));
}

// A sentence on the values that the scale leaves out.
std::string beyond(const FixedFocusSet& set, Number number) {
  const PlotRange range = range_of(set, number);
  if (range.beyond == 0) return "";
  double farthest = 0;
  std::string where;
  for (const FixedFocusCurve& curve : set.curves) {
    for (std::size_t epoch = 0; epoch < curve.epochs.size(); ++epoch) {
      const double value = curve.epochs[epoch].*number;
      if ((range.low <= value && value <= range.high) || !(std::abs(value) > std::abs(farthest))) continue;
      farthest = value;
      where = curve.loss + ", alpha " + shortest(curve.alpha) + ", epoch " + std::to_string(epoch);
    }
  }
  return " Values beyond the axis: " + std::to_string(range.beyond) + ", the farthest " + fixed(farthest, 2) + " (" +
         where + ").";
}

std::vector<Panel> panels_of(const FixedFocusSet& set, Number number, const std::string& y_label) {
  const PlotRange range = range_of(set, number);
  std::vector<Panel> panels;
  for (const NamedLoss& loss : paper_losses()) {
    std::vector<const FixedFocusCurve*> curves;
    for (const FixedFocusCurve& curve : set.curves) {
      if (curve.loss == loss.name) curves.push_back(&curve);
    }
    if (curves.empty()) continue;
    std::sort(curves.begin(), curves.end(), [](const auto* a, const auto* b) { return a->alpha < b->alpha; });
    LinePanel panel{.title = loss.title,
                    .x_label = "epoch",
                    .y_label = y_label,
                    .lines = {},
                    .y_low = range.low,
                    .y_high = range.high};
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const std::string name = (i == 0 ? "alpha " : "") + shortest(curves[i]->alpha);
      Line line{name, ordered_color(i, curves.size()), {}, false};
      for (std::size_t epoch = 0; epoch < curves[i]->epochs.size(); ++epoch) {
        line.points.emplace_back(static_cast<double>(epoch), curves[i]->epochs[epoch].*number);
      }
      panel.lines.push_back(std::move(line));
    }
    panels.push_back(draw(panel));
  }
  return panels;
}

// Times spread over powers of ten are shown so.
bool wants_log_time(const FlowSet& set) {
  const auto& points = set.paths[0].points;
  return points.size() > 4 && points[points.size() / 2].t < 0.1 * points.back().t;
}

Panel flow_panel(const FlowSet& set, double FlowPoint::*x, double FlowPoint::*y, const std::string& title,
                 const std::string& x_label, const std::string& y_label) {
  LinePanel panel{.title = title,
                  .x_label = x_label,
                  .y_label = y_label,
                  .lines = {},
                  .log_x = x == &FlowPoint::t && wants_log_time(set)};
  for (std::size_t i = 0; i < set.paths.size(); ++i) {
    Line line{set.paths[i].loss, loss_color(set.paths[i].loss, i), {}, false};
    for (const FlowPoint& point : set.paths[i].points) line.points.emplace_back(point.*x, point.*y);
    panel.lines.push_back(std::move(line));
  }
  return draw(panel);
}

}  // namespace

Blocks fixed_focus_section(const FixedFocusSet& set, std::size_t place) {
  Blocks blocks{Heading{"Figures 2 and 3: fixed focus"}, Paragraph{set.description}};
  if (set.curves.empty()) return blocks;
  const std::string number = std::to_string(place);
  blocks.push_back(Figure{.name = "fixed-focus-loss-" + number,
                          .caption = "Figure 2. The loss while the classification network is trained alone and the "
                                     "attention on the true foreground is held at alpha." +
                                     beyond(set, &FixedFocus::loss),
                          .panels = panels_of(set, &FixedFocus::loss, "loss")});
  blocks.push_back(Figure{.name = "incentive-" + number,
                          .caption = "Figure 3. The incentive to focus, exactly: how fast the loss would fall if alpha "
                                     "grew, -dL/dalpha, from the left at alpha 1." +
                                     beyond(set, &FixedFocus::derivative),
                          .panels = panels_of(set, &FixedFocus::derivative, "-dL/dalpha")});
  blocks.push_back(Figure{.name = "difference-" + number,
                          .caption = "The incentive as the paper defines it, L(alpha) - L(alpha + " + set.step +
                                     "), not divided by the step. At alpha 1 it is zero by construction." +
                                     beyond(set, &FixedFocus::difference),
                          .panels = panels_of(set, &FixedFocus::difference, "difference")});
  return blocks;
}

Blocks flow_section(const FlowSet& set, std::size_t place) {
  return {Heading{"Figure 4: gradient flow"}, Paragraph{set.file},
          Figure{.name = "flow-" + std::to_string(place),
                 .caption = "Figure 4. Gradient flow of the population loss in the linear orthogonal setting: mu is "
                            "the logit gap of the classification network, nu the score gap of the focus network.",
                 .panels = {
                     flow_panel(set, &FlowPoint::mu, &FlowPoint::nu, "Trajectories", "mu", "nu"),
                     flow_panel(set, &FlowPoint::t, &FlowPoint::mu, "Classification", "time", "mu"),
                     flow_panel(set, &FlowPoint::t, &FlowPoint::nu, "Focus", "time", "nu"),
                     flow_panel(set, &FlowPoint::t, &FlowPoint::alpha, "Attention on the foreground", "time", "alpha"),
                     flow_panel(set, &FlowPoint::t, &FlowPoint::beta, "Score of the true class", "time", "beta"),
                     flow_panel(set, &FlowPoint::t, &FlowPoint::value, "Loss", "time", "loss")}}};
}

}  // namespace fcam::apps
