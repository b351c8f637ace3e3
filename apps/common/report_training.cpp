#include <algorithm>
#include <cmath>
#include <map>

#include "common/report_sections.h"
#include "common/svg.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

using Runs = std::vector<const TrainingRun*>;

std::vector<Runs> by_method(const Runs& runs) {
  std::vector<Runs> groups;
  for (const TrainingRun* run : runs) {
    if (groups.empty() || groups.back()[0]->method != run->method) groups.emplace_back();
    groups.back().push_back(run);
  }
  return groups;
}

// The paper's name of a loss, and the method where that says more.
std::string title_of(const Runs& runs) {
  const RunOptions& options = runs[0]->options;
  return find_loss(options.loss).title + (runs[0]->method == options.loss ? "" : " (" + runs[0]->method + ")");
}

std::string percent(const Spread& spread) {
  if (std::isnan(spread.mean)) return "-";
  return fixed(100 * spread.mean, 1) + (std::isnan(spread.deviation) ? "" : " ± " + fixed(100 * spread.deviation, 1));
}

const std::optional<Metrics>& metrics_of(const TrainingRun& run, Split split) {
  return split == Split::train ? run.train : run.test;
}

std::vector<HeatMap> maps_of(const Runs& runs, Split split) {
  std::vector<HeatMap> maps;
  for (const TrainingRun* run : runs) {
    const auto& metrics = metrics_of(*run, split);
    if (metrics && metrics->heat_map.total() > 0) maps.push_back(metrics->heat_map);
  }
  return maps;
}

std::string seeds_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " seed" : " seeds"); }

Panel heat_panel(const Runs& runs, const std::vector<HeatMap>& maps) {
  HeatPanel panel{
      .title = title_of(runs),
      .subtitle = "percent of mosaics, " + (maps.size() == 1 ? "seed " + std::to_string(runs[0]->options.common.seed)
                                                             : "mean of " + seeds_text(maps.size()) + " ± deviation"),
      .x_label = "attention on the true foreground, a_z",
      .y_label = "score of the true class, s_y",
      .cells = {}};
  for (const auto& row : cells_of(maps)) {
    auto& cells = panel.cells.emplace_back();
    for (const Spread& cell : row) {
      cells.push_back(
          {cell.mean, std::isnan(cell.deviation) ? "" : "± " + fixed(std::round(1000 * cell.deviation) / 10, 1)});
    }
  }
  return draw(panel);
}

void add_heat_maps(const std::vector<Runs>& losses, Split split, std::size_t place, Blocks& blocks) {
  const std::string split_name = split == Split::train ? "training" : "test";
  Figure figure{.name = "heat-maps-" + std::string(to_string(split)) + "-" + std::to_string(place),
                .caption = "Where the models look and what they see, on " + split_name +
                           " mosaics. Top right is SAIF: sure of the label because sure of the right patch. Sums of "
                           "rows at the right, of columns above.",
                .panels = {}};
  for (const Runs& runs : losses) {
    const std::vector<HeatMap> maps = maps_of(runs, split);
    if (!maps.empty()) figure.panels.push_back(heat_panel(runs, maps));
  }
  if (!figure.panels.empty()) blocks.push_back(std::move(figure));
}

Table metrics_table(const std::vector<Runs>& losses) {
  Table table{.header = {"loss", "mosaics", "seeds", "SAIF", "accuracy", "focus right", "right focus and label",
                         "wrong focus, right label", "right focus, wrong label", "both wrong", "mean a_z"},
              .rows = {}};
  for (const Runs& runs : losses) {
    for (const Split split : {Split::train, Split::test}) {
      std::vector<Metrics> all;
      for (const TrainingRun* run : runs) {
        if (metrics_of(*run, split)) all.push_back(*metrics_of(*run, split));
      }
      if (all.empty()) continue;
      const auto over_seeds = [&](auto&& number) {
        std::vector<double> values;
        for (const Metrics& metrics : all) values.push_back(number(metrics));
        return percent(spread_of(values));
      };
      table.rows.push_back(
          {{title_of(runs), split == Split::train ? "training" : "test", std::to_string(all.size()),
            over_seeds([](const auto& m) { return m.saif; }), over_seeds([](const auto& m) { return m.accuracy; }),
            over_seeds([](const auto& m) { return m.ftpt + m.ftpf; }), over_seeds([](const auto& m) { return m.ftpt; }),
            over_seeds([](const auto& m) { return m.ffpt; }), over_seeds([](const auto& m) { return m.ftpf; }),
            over_seeds([](const auto& m) { return m.ffpf; }), over_seeds([](const auto& m) { return m.focus_mean; })}});
    }
  }
  return table;
}

std::vector<std::pair<double, double>> curve_of(const TrainingRun& run, const std::string& column) {
  std::vector<std::pair<double, double>> points;
  if (!run.log.has(column)) return points;
  for (std::size_t row = 0; row < run.log.rows(); ++row) {
    const double value = run.log.number(row, column);
    if (!std::isnan(value)) points.emplace_back(run.log.number(row, "epoch"), value);
  }
  return points;
}

// The mean at the epochs that all seeds have.
std::vector<std::pair<double, double>> mean_curve(const Runs& runs, const std::string& column) {
  std::vector<std::vector<std::pair<double, double>>> curves;
  for (const TrainingRun* run : runs) curves.push_back(curve_of(*run, column));
  std::vector<std::pair<double, double>> mean;
  for (const auto& [epoch, first] : curves[0]) {
    std::vector<double> values;
    for (const auto& curve : curves) {
      const auto found =
          std::find_if(curve.begin(), curve.end(), [at = epoch](const auto& point) { return point.first == at; });
      if (found != curve.end()) values.push_back(found->second);
    }
    if (values.size() == curves.size()) mean.emplace_back(epoch, spread_of(values).mean);
  }
  return mean;
}

// How often g is called in an epoch: what epochs of one method and one duration have in common.
std::pair<double, double> calls_of(const TrainingRun& run, std::size_t row) {
  if (!run.log.has("classify_forward")) return {0, 0};
  return {run.log.number(row, "classify_forward"), run.log.number(row, "classify_backward")};
}

// Seconds from the start to the end of each epoch, the mean at the epochs that all seeds have. An epoch counts as the
// median of those of all seeds that call g as often: the time itself would count tests, which not every epoch has, and
// whatever else the machine did.
std::vector<double> clock_of(const Runs& runs) {
  std::map<std::pair<double, double>, std::vector<double>> alike;
  std::size_t epochs = runs[0]->log.rows();
  for (const TrainingRun* run : runs) {
    epochs = std::min(epochs, run->log.rows());
    for (std::size_t row = 0; row < run->log.rows(); ++row)
      alike[calls_of(*run, row)].push_back(run->log.number(row, "seconds"));
  }
  for (auto& [calls, seconds] : alike) std::sort(seconds.begin(), seconds.end());
  std::vector<double> clock;
  double now = 0;
  for (std::size_t row = 0; row < epochs; ++row) {
    std::vector<double> usual;
    for (const TrainingRun* run : runs) {
      const std::vector<double>& seconds = alike[calls_of(*run, row)];
      usual.push_back(seconds[seconds.size() / 2]);
    }
    clock.push_back(now += spread_of(usual).mean);
  }
  return clock;
}

// A column against epochs, or against the seconds that they usually take.
enum class Against { epochs, seconds };
Panel curve_panel(const std::vector<Runs>& losses, const std::string& column, const std::string& title,
                  const std::string& y_label, Against against = Against::epochs) {
  LinePanel panel{.title = title,
                  .x_label = against == Against::epochs ? "epoch" : "seconds of training",
                  .y_label = y_label,
                  .lines = {}};
  std::size_t place = 0;
  for (const Runs& runs : losses) {
    const std::string color = loss_color(runs[0]->method, place++);
    const std::vector<double> clock = against == Against::seconds ? clock_of(runs) : std::vector<double>();
    const auto placed = [&](std::vector<std::pair<double, double>> points) {
      if (against == Against::epochs) return points;
      points.resize(std::min(points.size(), clock.size()));  // a column of every epoch
      for (std::size_t i = 0; i < points.size(); ++i) points[i].first = clock[i];
      return points;
    };
    for (const TrainingRun* run : runs) {
      if (runs.size() > 1) panel.lines.push_back({"", color, placed(curve_of(*run, column)), true});
    }
    panel.lines.push_back({runs[0]->method, color, placed(mean_curve(runs, column)), false});
  }
  return draw(panel);
}

// The first epoch at which the mean of the seeds reaches a value; NaN where none does.
double epoch_of_reaching(const Runs& runs, const std::string& column, double value) {
  for (const auto& [epoch, mean] : mean_curve(runs, column)) {
    if (mean >= value) return epoch;
  }
  return std::nan("");
}

// SAIF at the last epoch that all seeds have, as the steps saw it.
double last_saif(const Runs& runs) {
  const auto mean = mean_curve(runs, "saif");
  return mean.empty() ? std::nan("") : mean.back().second;
}

double mean_over_epochs(const Runs& runs, const std::string& column) {
  std::vector<double> values;
  for (const TrainingRun* run : runs) {
    for (const auto& [epoch, value] : curve_of(*run, column)) values.push_back(value);
  }
  return values.empty() ? std::nan("") : spread_of(values).mean;
}

std::string number(double value, int digits) { return std::isnan(value) ? "-" : fixed(value, digits); }

Table cost_table(const std::vector<Runs>& losses) {
  const auto marginal =
      std::find_if(losses.begin(), losses.end(), [](const Runs& runs) { return runs[0]->method == "lv"; });
  const double goal = marginal == losses.end() ? std::nan("") : 0.9 * last_saif(*marginal);
  Table table{.header = {"loss", "seeds", "SAIF, last epoch", "g forward a mosaic", "g backward a mosaic",
                         "seconds an epoch", "epochs to 90 % of LV's SAIF", "seconds to it"},
              .rows = {}};
  for (const Runs& runs : losses) {
    const std::vector<double> clock = clock_of(runs);
    const double seconds = clock.empty() ? std::nan("") : clock.back() / static_cast<double>(clock.size());
    const double epochs = epoch_of_reaching(runs, "saif", goal);
    const double reached = std::isnan(epochs) ? epochs : clock.at(static_cast<std::size_t>(epochs) - 1);
    table.rows.push_back(
        {{title_of(runs), std::to_string(runs.size()), number(100 * last_saif(runs), 1),
          number(mean_over_epochs(runs, "classify_forward"), 2), number(mean_over_epochs(runs, "classify_backward"), 2),
          number(seconds, 1), number(epochs, 0), number(reached, 0)}});
  }
  return table;
}

}  // namespace

std::vector<Observation> judge_training(const Runs& runs) {
  std::vector<LossHeatMaps> all;
  for (const Runs& one : by_method(runs)) all.push_back({one[0]->method, maps_of(one, Split::train)});
  return judge_heat_maps(all);
}

Blocks training_section(const Runs& runs, std::size_t place) {
  Blocks blocks{Heading{"Figure 1: " + describe(*runs[0])}};
  const std::vector<Runs> losses = by_method(runs);
  add_heat_maps(losses, Split::train, place, blocks);
  add_heat_maps(losses, Split::test, place, blocks);
  Table metrics = metrics_table(losses);
  if (!metrics.rows.empty()) {
    blocks.push_back(Paragraph{"Percent, mean ± standard deviation over the seeds. A tie among k patches counts 1/k."});
    blocks.push_back(std::move(metrics));
  }
  blocks.push_back(Figure{
      .name = "training-" + std::to_string(place),
      .caption = "The course of training. Thick: the mean over the seeds, thin: each of them. Values of training "
                 "mosaics are those of the steps of the epoch.",
      .panels = {curve_panel(losses, "loss", "Training loss", "loss"),
                 curve_panel(losses, "saif", "SAIF, training mosaics", "share"),
                 curve_panel(losses, "test_saif", "SAIF, test mosaics", "share"),
                 curve_panel(losses, "test_accuracy", "Accuracy, test mosaics", "share"),
                 curve_panel(losses, "saif", "SAIF, training mosaics", "share", Against::seconds)}});
  blocks.push_back(Paragraph{
      "What it costs: patches of a mosaic that g sees in a training step, and has a gradient of, as means over the "
      "epochs; the time of an epoch without its test; and when the mean of the seeds comes to nine tenths of the SAIF "
      "that LV ends with. SAIF in percent, of training mosaics as the steps saw them."});
  blocks.push_back(cost_table(losses));
  return blocks;
}

}  // namespace fcam::apps
