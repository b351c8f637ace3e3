// fcam-evaluate: where trained models look and what they see, as tables, figures and files.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>

#include "common/heat_map_figure.h"
#include "common/metrics_json.h"
#include "common/outputs.h"
#include "common/run.h"
#include "common/trained_model.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/training/safetensors.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options {
  std::vector<std::string> runs;
  std::string model, split = "test", inference, csv, json, plot, dump;
  std::size_t bins = 5;
  RunOptions run;  // how the model was trained
};

struct Evaluation {
  std::string run, loss, inference, split;
  Metrics metrics;
  std::vector<std::string> class_names;
};

void declare_all(CommandLine& line, Options& options) {
  line.arguments("RUN", options.runs, "folders of fcam-train");
  line.group("Evaluation");
  line.text("model", options.model, "a file of weights instead of runs; then say data and networks as in training",
            "FILE");
  line.choice("split", options.split, {"train", "test"}, "which mosaics");
  line.choice("inference", options.inference, {"sa", "lv", "ha"},
              "rule for the scores (default: the one of the run's loss)");
  line.count("bins", options.bins, 1, 100, "of the heat map, each way");
  line.output("csv", options.csv, "write the numbers as a table, a row a run");
  line.output("json", options.json, "write them as an object, or as a list of objects for several runs");
  line.text("plot", options.plot, "draw the heat maps side by side: .svg, .png or .pdf", "FILE");
  line.output("dump", options.dump, "write a row a mosaic: where the model looks and what it sees (one run)");
  for (const char* name : {"model", "split", "inference", "bins", "plot"}) line.not_recorded(name);
  declare(line, options.run, true);
}

// Every mosaic as a line of CSV, written batch by batch.
class Dump {
 public:
  Dump(const std::string& path, std::size_t patches) : file_(path) {
    std::string header = "index,label,z,predicted,focused,a_z,s_y";
    for (std::size_t j = 0; j < patches; ++j) header += ",a_" + std::to_string(j);
    file_.write(header + "\n");
  }
  void add(std::size_t first, const BatchOutcome<float>& batch) {
    const auto argmax = [](auto values) { return std::max_element(values.begin(), values.end()) - values.begin(); };
    std::string text;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const auto a = batch.a(b), s = batch.s(b);
      const int z = batch.z(b);
      text += std::to_string(first + b) + "," + std::to_string(batch.label(b)) + "," +
              (z < 0 ? "" : std::to_string(z)) + "," + std::to_string(argmax(s)) + "," + std::to_string(argmax(a)) +
              "," + (z < 0 ? "" : shortest(static_cast<double>(a[static_cast<std::size_t>(z)]))) + "," +
              shortest(static_cast<double>(s[static_cast<std::size_t>(batch.label(b))]));
      for (const float weight : a) text += "," + shortest(static_cast<double>(weight));
      text += "\n";
    }
    file_.write(text);
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

// The file with the weights of a run: those of its checkpoint where it has not come to its end.
std::string weights_of(const RunFolder& folder) {
  if (is_there(folder.model()) || !is_there(folder.config())) return folder.model();
  if (!is_there(folder.checkpoint())) {
    throw DataError(quote(folder.model()) + ": expected the weights of a run, found neither them nor a checkpoint; " +
                    "fcam-train --resume --out " + quote(folder.path) + " trains them");
  }
  const auto metadata = read_safetensors(folder.checkpoint()).metadata;
  const auto epochs = metadata.find("epochs");
  std::fprintf(stderr, "fcam-evaluate: note: run %s is not finished: evaluating its checkpoint after epoch %s%s\n",
               quote(folder.path).c_str(), epochs == metadata.end() ? "?" : quote(epochs->second).c_str(),
               metadata.contains("epoch.mosaics") ? ", within the next" : "");
  return folder.checkpoint();
}

// `inputs`: besides the data.
void check_outputs_of(const Options& options, std::vector<std::string> inputs) {
  for (std::string& file : data_files(options.run.data)) inputs.push_back(std::move(file));
  check_outputs({{"csv", options.csv}, {"json", options.json}, {"plot", options.plot}, {"dump", options.dump}}, inputs);
}

Evaluation evaluate_one(Options options, const CommandLine& line, const std::string& run, const StopSignals& signals) {
  if (!run.empty()) check_outputs_of(options, {});
  const Split split = options.split == "train" ? Split::train : Split::test;
  const auto& [loss, usual, mosaics, model] =
      load_trained(options.run, line, run.empty() ? options.model : weights_of(RunFolder{run}), split);
  if (!options.plot.empty() && !mosaics.knows_positions()) {
    throw UsageError("plot: expected data with known positions, found none in " +
                     quote(run.empty() ? options.model : run));
  }
  const Inference rule = options.inference.empty() ? usual : find_inference(options.inference);
  Workers workers(static_cast<int>(options.run.common.threads));
  std::optional<Dump> dump;
  if (!options.dump.empty()) dump.emplace(options.dump, mosaics.patches());
  const Metrics metrics = evaluate<float>(model, mosaics, loss, {.inference = rule, .bins = options.bins}, workers,
                                          [&](std::size_t first, const BatchOutcome<float>& batch) {
                                            signals.check();
                                            if (dump) dump->add(first, batch);
                                          });
  if (dump) dump->commit();
  return {run.empty() ? options.model : run,
          options.run.loss,
          to_string(rule),
          options.split,
          metrics,
          mosaics.class_names()};
}

std::string cell(double fraction, std::size_t width, double scale = 100, int digits = 1) {
  std::string text = std::isnan(fraction) ? "-" : fixed(scale * fraction, digits);
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string table(const std::vector<Evaluation>& all) {
  std::size_t width = 4;
  for (const Evaluation& e : all) width = std::max(width, e.loss.size());
  const auto padded = [&](const std::string& name) { return name + std::string(width + 1 - name.size(), ' '); };
  std::string text =
      padded("loss") + "inference    accuracy   saif   ftpt   ffpt   ftpf   ffpf focus_mean     loss_value  run\n";
  for (const Evaluation& e : all) {
    const Metrics& m = e.metrics;
    text += padded(e.loss) + e.inference + "          " + cell(m.accuracy, 11) + cell(m.saif, 7) + cell(m.ftpt, 7) +
            cell(m.ffpt, 7) + cell(m.ftpf, 7) + cell(m.ffpf, 7) + cell(m.focus_mean, 11) + cell(m.loss, 15, 1, 4) +
            "  " + e.run + "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const Evaluation& e) {
  nlohmann::ordered_json json{{"run", e.run}, {"loss", e.loss}, {"inference", e.inference}, {"split", e.split}};
  json.update(apps::to_json(e.metrics));
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

std::string to_csv(const std::vector<Evaluation>& all) {
  std::string text;
  for (const Evaluation& e : all) {
    const nlohmann::ordered_json json = to_json(e);
    std::string header, row;
    for (const auto& [key, value] : json.items()) {
      if (value.is_array() || key == "heat_map") continue;
      header += (header.empty() ? "" : ",") + key;
      const std::string field = value.is_string()         ? csv_field(value.get<std::string>())
                                : value.is_null()         ? ""
                                : value.is_number_float() ? shortest(value.get<double>())
                                                          : value.dump();
      row += (row.empty() ? "" : ",") + field;
    }
    if (text.empty()) text = header + "\n";
    text += row + "\n";
  }
  return text;
}

// The accuracy of each class, of the lowest ones where there are many.
std::string by_class(const Evaluation& e) {
  constexpr std::size_t most_classes = 10;
  struct Line {
    std::size_t number;
    double accuracy;
  };
  std::vector<Line> lines;
  const auto& classes = e.metrics.classes;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].n > 0)
      lines.push_back({c, static_cast<double>(classes[c].correct) / static_cast<double>(classes[c].n)});
  }
  std::string text = "accuracy by class:";
  if (lines.size() > most_classes) {
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.accuracy < b.accuracy; });
    text = "lowest accuracies of " + std::to_string(lines.size()) + " classes:";
    lines.resize(most_classes);
  }
  for (const Line& line : lines) text += " " + quote(e.class_names[line.number]) + " " + cell(line.accuracy, 0);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].predicted == e.metrics.n && classes[c].n < e.metrics.n) {
      text += "\nall mosaics are predicted to be " + quote(e.class_names[c]);
    }
  }
  return text + "\n";
}

std::string print(const std::vector<Evaluation>& all) {
  std::string text;
  for (const Evaluation& e : all) {
    text += e.run + ": " + find_loss(e.loss).title + ", " + std::to_string(e.metrics.n) + " " + e.split +
            " mosaics, percent of them by focus score a_z of the true foreground and score s_y of the true class\n";
    text +=
        e.metrics.heat_map.total() > 0 ? to_text(e.metrics.heat_map) : "positions of the foreground are not known\n";
    text += by_class(e) + "\n";
  }
  return text + table(all);
}

int evaluate_all(int argc, char** argv) {
  Options options;
  CommandLine first_pass("fcam-evaluate", "Evaluates trained models: where they look and what they see.");
  declare_all(first_pass, options);
  first_pass.examples(
      "  fcam-evaluate runs/fashion-mnist-lv-m5-s1\n"
      "  fcam-evaluate runs/sa runs/ha runs/lv --plot figure.svg --json figure.json\n"
      "  fcam-evaluate --model lv.safetensors --data cifar10 --loss lv --dump all.csv\n");
  if (first_pass.parse(argc, argv) == CommandLine::Outcome::done) return exit_done;
  if (options.runs.empty() == options.model.empty()) {
    throw UsageError(options.runs.empty() ? "argument: expected RUN folders or --model FILE, found neither"
                                          : "model: expected RUN folders or --model FILE, found both");
  }
  for (const std::string& run : options.runs) {
    if (run.empty()) throw UsageError("argument: expected RUN folders, found ''");
  }
  if (!options.dump.empty() && options.runs.size() > 1) {
    throw UsageError("dump: expected one run, found " + std::to_string(options.runs.size()));
  }
  if (!options.plot.empty()) check_plot_path(options.plot);
  std::vector<std::string> inputs{options.model};
  for (const std::string& run : options.runs) {
    const RunFolder folder(run);
    for (const std::string& name : folder.names) inputs.push_back(folder.file(name));
  }
  check_outputs_of(options, inputs);
  const StopSignals signals;

  std::vector<Evaluation> all;
  if (!options.model.empty()) all.push_back(evaluate_one(options, first_pass, "", signals));
  for (const std::string& run : options.runs) {
    // Once more with the run's own configuration behind the command line.
    Options own;
    CommandLine line("fcam-evaluate", "");
    declare_all(line, own);
    line.parse(argc, argv, [&] { return RunFolder{run}.config(); });
    all.push_back(evaluate_one(own, line, run, signals));
  }

  signals.check();
  std::cout << print(all) << std::flush;  // files may be standard output, too
  if (!options.csv.empty()) write_atomically(options.csv, to_csv(all));
  if (!options.json.empty()) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Evaluation& e : all) json.push_back(to_json(e));
    write_atomically(options.json, json_text(all.size() == 1 ? json[0] : json));
  }
  if (!options.plot.empty()) {
    std::vector<HeatMapPanel> panels;
    for (const Evaluation& e : all) {
      panels.push_back({find_loss(e.loss).title,
                        "SAIF " + cell(e.metrics.saif, 0) + " %, accuracy " + cell(e.metrics.accuracy, 0) + " %",
                        e.metrics.heat_map});
    }
    const PlotResult result = draw_heat_maps(panels, options.plot);
    if (!result.drawn) std::fprintf(stderr, "fcam-evaluate: %s\n", result.note.c_str());
  }
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-evaluate", [&] { return evaluate_all(argc, argv); });
}
