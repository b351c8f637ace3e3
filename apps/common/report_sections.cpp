#include "common/report_sections.h"

#include <algorithm>
#include <cmath>

#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

std::string shown(const Observation& observation, double value) {
  if (std::isinf(value)) return "infinite";
  if (observation.percent) return fixed(100 * value, std::abs(value) < 0.0995 ? 1 : 0) + " %";
  return fixed(value, 3);
}

std::string threshold_text(const Observation& observation) {
  const double value = observation.percent ? 100 * observation.threshold : observation.threshold;
  return (observation.above ? "above " : "at most ") + shortest(std::round(1e6 * value) / 1e6) +
         (observation.percent ? " %" : "");
}

// Observations beside where they were looked for.
struct Judged {
  std::string where;
  std::vector<Observation> observations;
};

std::string count_text(const std::vector<Judged>& all) {
  std::size_t counts[3] = {};
  for (const Judged& judged : all) {
    for (const Observation& one : judged.observations) ++counts[static_cast<int>(one.verdict())];
  }
  return std::to_string(counts[static_cast<int>(Verdict::holds)]) + " hold, " +
         std::to_string(counts[static_cast<int>(Verdict::fails)]) + " fail, " +
         std::to_string(counts[static_cast<int>(Verdict::not_judged)]) + " are not judged.";
}

std::vector<Judged> judge(const ReportInput& input, const std::vector<std::vector<const TrainingRun*>>& settings) {
  std::vector<Judged> all;
  for (const auto& runs : settings) all.push_back({"Figure 1: " + describe(*runs[0]), judge_training(runs)});
  if (settings.empty()) all.push_back({"Figure 1", judge_heat_maps({})});
  std::vector<std::pair<std::string, std::vector<FixedFocusCurve>>> sets;
  for (const FixedFocusSet& set : input.fixed_focus) sets.emplace_back(": " + set.description, set.curves);
  if (sets.empty()) sets.emplace_back("", std::vector<FixedFocusCurve>());
  for (const auto& [where, curves] : sets) {
    all.push_back({"Figure 2" + where, judge_fixed_focus_losses(curves)});
    all.push_back({"Figure 3" + where, judge_incentives(curves)});
  }
  for (const FlowSet& set : input.flows) all.push_back({"Figure 4: " + set.file, judge_flow(set.paths)});
  if (input.flows.empty()) all.push_back({"Figure 4", judge_flow({})});
  return all;
}

Table table_of_runs(const std::vector<TrainingRun>& runs) {
  Table table{.header = {"run", "loss", "seed", "epochs", "learning rate", "seconds", "state"}, .rows = {}};
  for (const TrainingRun& run : runs) {
    double seconds = 0;
    for (std::size_t row = 0; row < run.log.rows(); ++row) seconds += run.log.number(row, "seconds");
    table.rows.push_back({{run.folder.path, run.options.loss, std::to_string(run.options.common.seed),
                           std::to_string(run.epochs_done()) + " of " + std::to_string(run.options.epochs),
                           shortest(trainer_options(run.options).learning_rate), fixed(seconds, 0),
                           run.finished ? "finished" : "not finished"}});
  }
  return table;
}

void append(Blocks& to, Blocks from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Table table_of(const std::vector<Observation>& observations) {
  Table table{
      .header = {"", "observation", "judged by", "measured", "threshold", "verdict"}, .rows = {}, .prose = true};
  for (const Observation& one : observations) {
    const Verdict verdict = one.verdict();
    table.rows.push_back({{one.id, one.statement, one.measure,
                           verdict == Verdict::not_judged ? "-" : shown(one, one.measured), threshold_text(one),
                           verdict == Verdict::holds   ? "✓ holds"
                           : verdict == Verdict::fails ? "✗ fails"
                                                       : "not judged; needs " + one.missing},
                          verdict == Verdict::holds   ? "good"
                          : verdict == Verdict::fails ? "bad"
                                                      : "open"});
  }
  return table;
}

Report make_report(const ReportInput& input, const std::string& title) {
  std::vector<std::string> notes = input.notes;
  const auto settings = settings_of(input, notes);
  const std::vector<Judged> judged = judge(input, settings);
  Report report{.title = title, .blocks = {}};
  report.blocks.push_back(
      Paragraph{"Observations of the paper (arXiv 2307.13421), each judged by one number and one threshold that was "
                "stated before the runs in docs/reproduction.md. " +
                count_text(judged)});
  if (!input.problems.empty() || !notes.empty()) {
    report.blocks.push_back(Heading{"What is missing"});
    List list{input.problems};
    list.items.insert(list.items.end(), notes.begin(), notes.end());
    report.blocks.push_back(std::move(list));
  }
  for (const Judged& one : judged) {
    report.blocks.push_back(Heading{"Observations on " + one.where});
    report.blocks.push_back(table_of(one.observations));
  }
  for (std::size_t i = 0; i < settings.size(); ++i) append(report.blocks, training_section(settings[i], i + 1));
  for (std::size_t i = 0; i < input.fixed_focus.size(); ++i) {
    append(report.blocks, fixed_focus_section(input.fixed_focus[i], i + 1));
  }
  for (std::size_t i = 0; i < input.flows.size(); ++i) append(report.blocks, flow_section(input.flows[i], i + 1));
  if (!input.runs.empty()) {
    report.blocks.push_back(Heading{"Runs"});
    report.blocks.push_back(table_of_runs(input.runs));
  }
  return report;
}

}  // namespace fcam::apps
