// The parts of a report: figures and tables from what was read.
#pragma once

#include <string>

#include "common/report_document.h"
#include "common/report_input.h"

namespace fcam::apps {

using Blocks = std::vector<std::variant<Heading, Paragraph, List, Table, Figure>>;

/// Observations as a table: statement, number, threshold, verdict.
Table table_of(const std::vector<Observation>& observations);

/// Figure 1 of one setting, of settings_of(): heat maps, metrics and curves, means over the seeds. `place` numbers the
/// files of figures.
Blocks training_section(const std::vector<const TrainingRun*>& runs, std::size_t place);
/// Its observations.
std::vector<Observation> judge_training(const std::vector<const TrainingRun*>& runs);

/// Figures 2 and 3 of one setting.
Blocks fixed_focus_section(const FixedFocusSet& set, std::size_t place);
/// Figure 4 of one file.
Blocks flow_section(const FlowSet& set, std::size_t place);

/// The whole: observations first, then the figures, the runs, and what is missing.
Report make_report(const ReportInput& input, const std::string& title);

}  // namespace fcam::apps
