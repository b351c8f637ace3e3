#include "common/report_input.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "common/fixed_focus_series.h"
#include "common/toml.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

// Options that say how long and how fast a run trains.
const std::set<std::string>& pace_options() {
  static const std::set<std::string> names{"batch",    "lr",        "lr-schedule",  "then-lr",
                                           "momentum", "optimizer", "weight-decay", "augment"};
  return names;
}

// Options that make no other setting either.
bool is_setting(const std::string& name) {
  static const std::set<std::string> others{"loss", "samples",  "reward", "top",       "switch-epoch",
                                            "then", "blend",    "seed",   "epochs",    "eval-every",
                                            "init", "patience", "data",   "stop-loss", "threads"};
  return !others.contains(name) && !pace_options().contains(name);
}

// The same data in different places is the same; folders of one's own are not.
std::string data_of(const std::string& data) {
  const std::string kind = data.substr(0, data.find(':'));
  return kind == "folder" || kind == "npy" ? data : kind;
}

TrainingRun read_run(const std::string& path) {
  const RunFolder folder(path);
  RunOptions options;
  CommandLine line("fcam-report", "");
  declare(line, options, true);
  const char* const nothing[] = {"fcam-report"};
  line.parse(1, nothing, [&] { return folder.config(); });
  std::string setting = data_of(options.data.data), pace;
  for (const std::string& name : line.recorded()) {
    const std::string entry = name + " = " + line.to_toml(name) + "\n";
    if (pace_options().contains(name)) pace += entry;
    if (is_setting(name)) setting += entry;
  }
  std::string method = method_of(options);
  return {.folder = folder,
          .options = std::move(options),
          .setting = std::move(setting),
          .pace = std::move(pace),
          .method = std::move(method),
          .log = CsvTable(folder.log()),
          .finished = is_there(folder.model()),
          .train = {},
          .test = {}};
}

// The configuration of a folder of fcam-fixed-focus, as text for those who read it and as numbers of use here.
struct FixedFocusConfig {
  std::string setting, description, step;
  std::size_t epochs = 0;
};

FixedFocusConfig read_fixed_focus_config(const std::string& path) {
  FixedFocusConfig config;
  std::map<std::string, std::string> values;
  for (const TomlEntry& entry : parse_toml(read_bytes(path), quote(path))) {
    std::string value;
    for (const TomlValue& one : entry.values) value += (value.empty() ? "" : ",") + one.text;
    if (entry.key == "epochs") {
      std::uint64_t epochs = 0;
      if (!parse_count(value, epochs)) throw bad_input(path, "a number of epochs", quote(value));
      config.epochs = epochs;
    }
    if (entry.key == "step") config.step = value;
    if (entry.key == "loss" || entry.key == "alpha" || entry.key == "lr") continue;
    if (entry.key == "data") value = data_of(value);
    config.setting += entry.key + " = " + value + "\n";
    values[entry.key] = value;
  }
  if (config.epochs == 0) throw bad_input(path, "a number of epochs", "none");
  config.description = values["data"] + ", m = " + values["patches"] + ", " + values["train"] +
                       " mosaics, classification network " + values["classify"] + ", " + values["epochs"] +
                       " epochs, seed " + values["seed"];
  return config;
}

void read_fixed_focus(const std::string& path, ReportInput& input) {
  const FixedFocusConfig config = read_fixed_focus_config(path + "/config.toml");
  const SeriesMap series = read_series(path + "/loss.csv", path + "/incentive.csv", config.epochs);
  if (series.empty()) input.notes.push_back(quote(path) + ": no finished training of fcam-fixed-focus yet");
  auto& sets = input.fixed_focus;
  auto set = std::find_if(sets.begin(), sets.end(), [&](const auto& one) { return one.setting == config.setting; });
  if (set == sets.end()) {
    sets.push_back({.folders = {},
                    .setting = config.setting,
                    .description = config.description,
                    .step = config.step,
                    .curves = {}});
    set = sets.end() - 1;
  }
  set->folders.push_back(path);
  for (const auto& [key, epochs] : series) {
    const std::string loss = paper_losses()[key.first].name;
    const bool again = std::any_of(set->curves.begin(), set->curves.end(), [&, alpha = key.second](const auto& curve) {
      return curve.loss == loss && curve.alpha == alpha;
    });
    if (again) {
      input.notes.push_back(quote(path) + ": left out " + to_string(key) + ", which is there in the same setting");
    } else {
      set->curves.push_back({loss, key.second, epochs});
    }
  }
}

void read_flow(const std::string& path, ReportInput& input) {
  const CsvTable table(path);
  FlowSet set{.file = path, .paths = {}};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& loss = table.text(row, "loss");
    if (set.paths.empty() || set.paths.back().loss != loss) set.paths.push_back({.loss = loss, .points = {}});
    set.paths.back().points.push_back({.t = table.number(row, "t"),
                                       .mu = table.number(row, "mu"),
                                       .nu = table.number(row, "nu"),
                                       .alpha = table.number(row, "alpha"),
                                       .beta = table.number(row, "beta"),
                                       .value = table.number(row, "value")});
  }
  for (const std::string& remark : table.remarks()) input.notes.push_back(quote(path) + ": " + remark);
  if (set.paths.empty()) throw bad_input(path, "rows of fcam-flow", "none");
  input.flows.push_back(std::move(set));
}

void read_path(const std::string& path, ReportInput& input) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(quote(path) + ": expected a run, found nothing of that name");
  if (std::filesystem::is_directory(status)) {
    if (is_there(path + "/loss.csv") || is_there(path + "/incentive.csv")) return read_fixed_focus(path, input);
    if (is_there(path + "/log.csv")) return input.runs.push_back(read_run(path));
    throw DataError(quote(path) +
                    ": expected log.csv of fcam-train, or loss.csv and incentive.csv of fcam-fixed-focus, found none "
                    "of them");
  }
  if (first_line(path) == "loss,t,mu,nu,alpha,beta,value") return read_flow(path, input);
  throw DataError(quote(path) + ": expected a folder of a run, or a table of fcam-flow, found something else");
}

std::size_t place_of(const std::string& loss) {
  const auto& all = named_losses();
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const NamedLoss& one) { return one.name == loss; }) - all.begin());
}

std::string name_of(const TrainingRun& run) { return run.method + ", seed " + std::to_string(run.options.common.seed); }

// Takes out runs that have a loss and seed again, or trained at another pace than others of their loss.
void leave_out_misfits(std::vector<const TrainingRun*>& runs, std::vector<std::string>& notes) {
  std::vector<const TrainingRun*> kept;
  for (const TrainingRun* run : runs) {
    const auto same_loss =
        std::find_if(kept.begin(), kept.end(), [&](const TrainingRun* other) { return other->method == run->method; });
    if (same_loss != kept.end() && (*same_loss)->pace != run->pace) {
      notes.push_back(quote(run->folder.path) + ": left out, as it trains at another pace than " +
                      quote((*same_loss)->folder.path) + " (batch, learning rate, optimiser and what belongs to them)");
    } else if (same_loss != kept.end() && std::any_of(kept.begin(), kept.end(), [&](const TrainingRun* other) {
                 return name_of(*other) == name_of(*run);
               })) {
      notes.push_back(quote(run->folder.path) + ": left out, as " + name_of(*run) + " is there already");
    } else {
      kept.push_back(run);
    }
  }
  runs = kept;
}

void note_missing(const std::vector<const TrainingRun*>& runs, std::vector<std::string>& notes) {
  std::set<std::uint64_t> seeds;
  std::set<std::string> methods{"sa", "ha", "lv"};
  for (const TrainingRun* run : runs) {
    seeds.insert(run->options.common.seed);
    methods.insert(run->method);
    if (!run->finished) {
      notes.push_back(quote(run->folder.path) + ": not finished, " + std::to_string(run->epochs_done()) + " of " +
                      std::to_string(run->options.epochs) + " epochs; left out of the heat maps");
    }
  }
  for (const std::string& method : methods) {
    for (const std::uint64_t seed : seeds) {
      const bool there = std::any_of(runs.begin(), runs.end(), [&](const TrainingRun* run) {
        return run->method == method && run->options.common.seed == seed;
      });
      if (!there) notes.push_back(describe(*runs[0]) + ": no run of " + method + " with seed " + std::to_string(seed));
    }
  }
}

}  // namespace

ReportInput read_report_input(const std::vector<std::string>& paths) {
  ReportInput input;
  for (const std::string& path : paths) {
    try {
      read_path(path, input);
    } catch (const Error& error) {
      input.problems.push_back(error.what());
    }
  }
  return input;
}

std::vector<std::vector<const TrainingRun*>> settings_of(const ReportInput& input, std::vector<std::string>& notes) {
  std::vector<std::vector<const TrainingRun*>> settings;
  for (const TrainingRun& run : input.runs) {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& runs) { return runs[0]->setting == run.setting; });
    if (found == settings.end()) {
      settings.push_back({&run});
    } else {
      found->push_back(&run);
    }
  }
  for (auto& runs : settings) {
    leave_out_misfits(runs, notes);
    std::stable_sort(runs.begin(), runs.end(), [](const TrainingRun* a, const TrainingRun* b) {
      return std::tuple(place_of(a->options.loss), a->method, a->options.common.seed) <
             std::tuple(place_of(b->options.loss), b->method, b->options.common.seed);
    });
    note_missing(runs, notes);
  }
  return settings;
}

std::string describe(const TrainingRun& run) {
  const DataOptions& data = run.options.data;
  std::string text = data_of(data.data) + ", m = " + std::to_string(data.patches) + ", " + std::to_string(data.train) +
                     " mosaics, focus network " + run.options.networks.focus + ", classification network " +
                     run.options.networks.classify;
  if (!data.foreground.empty()) text += ", " + std::to_string(data.foreground.size()) + " foreground classes";
  return text;
}

}  // namespace fcam::apps
