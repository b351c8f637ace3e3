// What a report is made of: runs of fcam-train, trainings of fcam-fixed-focus and paths of fcam-flow, as they are
// found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/csv.h"
#include "common/run.h"
#include "fcam/analysis/observations.h"

namespace fcam::apps {

/// A run of fcam-train, finished or not.
struct TrainingRun {
  RunFolder folder;
  RunOptions options;
  std::string setting;  ///< the same in runs that differ in nothing but loss, seed and how long and fast they train
  std::string pace;     ///< the latter
  std::string method;   ///< the loss, and what is particular to it
  CsvTable log;
  bool finished = false;
  std::optional<Metrics> train, test;  ///< where it was evaluated

  std::size_t epochs_done() const { return log.rows(); }
};

/// Trainings of fcam-fixed-focus in one setting, from one folder or several.
struct FixedFocusSet {
  std::vector<std::string> folders;
  std::string setting;      ///< all options that make it
  std::string description;  ///< those of interest
  std::string step;         ///< of alpha in the paper's difference
  std::vector<FixedFocusCurve> curves;
};

/// One file of fcam-flow.
struct FlowSet {
  std::string file;
  std::vector<FlowPath> paths;
};

struct ReportInput {
  std::vector<TrainingRun> runs;
  std::vector<FixedFocusSet> fixed_focus;
  std::vector<FlowSet> flows;
  std::vector<std::string> notes;     ///< what is left out or not finished
  std::vector<std::string> problems;  ///< what could not be read
};

/// Reads what these paths hold; a folder or file is recognised by its content. Nothing is evaluated yet.
ReportInput read_report_input(const std::vector<std::string>& paths);

/// The runs of one setting, of each method and seed once, losses in the paper's order, then seeds ascending; runs that
/// do not fit in, and seeds that only some losses have, are added to `notes`.
std::vector<std::vector<const TrainingRun*>> settings_of(const ReportInput& input, std::vector<std::string>& notes);

/// A setting in words.
std::string describe(const TrainingRun& run);

}  // namespace fcam::apps
