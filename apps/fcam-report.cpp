// fcam-report: what runs show, as one page: figures, tables, and the paper's observations judged.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "common/output_folder.h"
#include "common/progress.h"
#include "common/report_sections.h"
#include "common/svg.h"
#include "common/trained_model.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options {
  CommonOptions common;
  std::vector<std::string> runs, data;
  std::string out = "report", title = "On the learning dynamics of attention networks";
};

void declare_all(CommandLine& line, Options& options) {
  line.arguments("RUNS", options.runs, "folders of fcam-train and fcam-fixed-focus, tables of fcam-flow");
  line.group("Report");
  line.text("out", options.out, "folder for report.html, report.md and the figures", "DIR");
  line.text("title", options.title, "of the report");
  line.list("data", options.data,
            "where data sets are now, KIND:PATH, for runs that had them elsewhere (default: where they were)");
  declare(line, options.common);
}

// The place of a run's data as this call says, else as the run does.
std::string data_now(const std::string& then, const std::vector<std::string>& now) {
  const std::string kind = then.substr(0, then.find(':')) + ":";
  const auto found = std::find_if(now.begin(), now.end(), [&](const auto& data) { return data.starts_with(kind); });
  return found == now.end() ? then : *found;
}

// Where a finished run looks on both splits.
void evaluate_run(TrainingRun& run, const Options& options) {
  RunOptions trained = run.options;
  trained.data.data = data_now(trained.data.data, options.data);
  CommandLine line("fcam-report", "");
  declare(line, trained, true);
  Workers workers(static_cast<int>(options.common.threads));
  for (const Split split : {Split::train, Split::test}) {
    const auto& [loss, inference, mosaics, model] = load_trained(trained, line, run.folder.model(), split);
    auto& metrics = split == Split::train ? run.train : run.test;
    metrics = evaluate<float>(model, mosaics, loss, {.inference = inference}, workers);
  }
}

void evaluate_all(ReportInput& input, const Options& options) {
  Progress progress(options.common.quiet);
  progress.start("runs", input.runs.size());
  std::size_t done = 0;
  for (TrainingRun& run : input.runs) {
    progress.advance(done, run.folder.path);
    try {
      if (run.finished) evaluate_run(run, options);
    } catch (const Error& error) {
      input.problems.push_back(quote(run.folder.path) + ": " + error.what());
    }
    progress.advance(++done, run.folder.path);
  }
}

void write(const Report& report, const std::string& out) {
  for (const auto& block : report.blocks) {
    if (const Figure* figure = std::get_if<Figure>(&block)) {
      write_atomically(out + "/figures/" + figure->name + ".svg", svg_file(*figure));
    }
  }
  write_atomically(out + "/report.md", to_markdown(report, "figures"));
  write_atomically(out + "/report.html", to_html(report));
}

int report_all(const Options& options) {
  if (options.runs.empty()) throw UsageError("argument: expected RUNS, found none");
  for (const std::string& data : options.data) {
    if (data.find(':') == std::string::npos) throw UsageError("data: expected KIND:PATH, found " + quote(data));
  }
  ReportInput input = read_report_input(options.runs);
  if (input.problems.size() == options.runs.size()) throw DataError(input.problems[0]);
  make_folder(options.out + "/figures");
  evaluate_all(input, options);
  write(make_report(input, options.title), options.out);
  std::cout << options.out << "/report.html\n" << options.out << "/report.md\n";
  for (const std::string& problem : input.problems) std::fprintf(stderr, "fcam-report: error: %s\n", problem.c_str());
  return input.problems.empty() ? exit_done : exit_data;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-report", [&] {
    CommandLine line("fcam-report", "Draws what runs show and judges the paper's observations, as one page.");
    Options options;
    declare_all(line, options);
    line.examples(
        "  fcam-report runs/cifar10-* --out report\n"
        "  fcam-report runs/* flow.csv --data cifar10:/data/cifar-10 --out report\n");
    if (line.parse(argc, argv) == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return report_all(options);
  });
}
