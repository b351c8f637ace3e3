// fcam-fixed-focus: trains g alone with attention held at alpha, and measures loss and incentive epoch by epoch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>

#include "common/fixed_focus_figure.h"
#include "common/model_options.h"
#include "common/output_folder.h"
#include "common/program.h"
#include "common/progress.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/training/trainer.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options {
  CommonOptions common;
  DataOptions data;
  NetworkOptions networks;
  std::vector<std::string> losses{"sa", "ha", "lv"}, alphas{"0.2", "0.4", "0.6", "0.8", "1"};
  std::size_t epochs = 100, batch = 256;
  double step = 0.01, momentum = 0.9;
  double learning_rate = std::numeric_limits<double>::quiet_NaN();  // NaN: the one that suits loss and data
  FolderOptions place;
  bool plot = false;

  OutputFolder folder() const {
    const std::string name =
        "runs/fixed-focus-" + data.kind() + "-m" + std::to_string(data.patches) + "-s" + std::to_string(common.seed);
    return {place.path.empty() ? name : place.path, {"config.toml", "loss.csv", "incentive.csv"}};
  }
};

void declare_all(CommandLine& line, Options& options) {
  constexpr auto unbounded = std::numeric_limits<std::size_t>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  declare(line, options.place, "runs/fixed-focus-DATA-mM-sS",
          "keep the trainings that the folder holds, with its options, and add those asked for");
  line.flag("plot", options.plot, "draw loss and incentive into the folder, each as .svg, .png and .pdf");
  line.not_recorded("plot");
  line.group("Training");
  line.list("loss", options.losses, "losses to train with (default: sa,ha,lv)");
  line.list("alpha", options.alphas, "attention on the foreground, from 0 to 1 (default: 0.2,0.4,0.6,0.8,1)");
  line.count("epochs", options.epochs, 1, unbounded, "times that every mosaic is seen");
  line.number("step", options.step, 1e-6, 1, "of alpha in the incentive L(alpha) - L(min(alpha + step, 1))");
  line.count("batch", options.batch, 1, unbounded, "mosaics a step");
  line.number("lr", options.learning_rate, 0, infinity,
              "learning rate (default: on images sa 0.004, ha 0.01, lv 0.05; on vectors sa 0.05, ha 0.01, lv 0.05)");
  line.number("momentum", options.momentum, 0, 1, "of gradient descent, below 1");
  declare(line, options.data, false);
  declare_classify(line, options.networks);
  declare(line, options.common);
}

// The sizes of the paper's linear setting, where the user says nothing else.
void choose_sizes(Options& options, const CommandLine& line) {
  if (options.data.kind() != "linear") return;
  if (!line.given("patches")) options.data.patches = 20;
  if (!line.given("train")) options.data.train = 5000;
}

// The trainings that are asked for.
std::vector<SeriesKey> requested(const Options& options) {
  std::vector<SeriesKey> keys;
  for (const std::string& name : options.losses) {
    const NamedLoss& loss = find_loss(name, paper_losses());
    const auto place = static_cast<std::size_t>(&loss - paper_losses().data());
    for (const std::string& text : options.alphas) {
      double alpha = 0;
      if (!parse_number(text, alpha) || alpha < 0 || alpha > 1) {
        throw UsageError("alpha: expected numbers from 0 to 1, found " + quote(text));
      }
      if (std::find(keys.begin(), keys.end(), SeriesKey{place, alpha}) != keys.end()) {
        throw UsageError("loss, alpha: expected each once, found " + to_string(SeriesKey{place, alpha}) + " again");
      }
      keys.emplace_back(place, std::abs(alpha));  // there is a -0
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TrainerOptions trainer_options(const Options& options, const NamedLoss& loss, const Shape& patch) {
  const bool images = patch.size() == 3;
  const double usual = images && loss.name == "sa" ? 0.004 : loss.learning_rate;
  return {.epochs = options.epochs,
          .batch = options.batch,
          .learning_rate = std::isnan(options.learning_rate) ? usual : options.learning_rate,
          .momentum = options.momentum,
          .inference = std::nullopt,
          .seed = options.common.seed,
          .threads = static_cast<int>(options.common.threads)};
}

// One training, measured before it and after each epoch; fewer epochs than asked for where `goes_on` says no.
template <class GoesOn, class Report>
std::vector<FixedFocus> train_one(const Options& options, const Mosaics& mosaics, Model<float> model,
                                  const SeriesKey& key, GoesOn&& goes_on, Report&& report) {
  const NamedLoss& loss = paper_losses()[key.first];
  Trainer<float> trainer(model, with_fixed_focus(loss_function<float>(loss), key.second),
                         trainer_options(options, loss, mosaics.shape()));
  std::vector<FixedFocus> series;
  const auto measure = [&] {
    try {
      series.push_back(measure_fixed_focus(model, mosaics, loss,
                                           {.alpha = key.second, .step = options.step, .batch = options.batch},
                                           trainer.workers()));
    } catch (const DivergedError& error) {
      throw DivergedError("epoch " + std::to_string(series.size()) + ", " + error.what());
    }
    report(series.size() - 1, series.back());
  };
  trainer.on_step(
      [&](std::size_t done, double value) { return goes_on(trainer.epochs_done() * mosaics.count() + done, value); });
  try {
    measure();
    trainer.run(mosaics, [&](const Epoch&) { measure(); });
  } catch (const DivergedError& error) {
    throw DivergedError(to_string(key) + ": " + error.what());
  }
  return series;
}

std::string table(const SeriesMap& all) {
  std::string text = "loss alpha        loss at start      at end  incentive at end  derivative at end\n";
  const auto cell = [](double value, std::size_t width, int digits) {
    const std::string number = fixed(value, digits);
    return std::string(width > number.size() ? width - number.size() : 0, ' ') + number;
  };
  for (const auto& [key, series] : all) {
    const std::string alpha = shortest(key.second);
    text += paper_losses()[key.first].name + "   " + alpha +
            std::string(alpha.size() < 12 ? 12 - alpha.size() : 0, ' ') + cell(series.front().loss, 14, 4) +
            cell(series.back().loss, 12, 4) + cell(series.back().difference, 18, 6) +
            cell(series.back().derivative, 19, 4) + "\n";
  }
  return text;
}

void draw(const Options& options, const OutputFolder& folder, const SeriesMap& all) {
  for (const char* kind : {".svg", ".png", ".pdf"}) {
    for (const auto& [name, quantity] :
         {std::pair("loss", FixedFocusQuantity::loss), std::pair("incentive", FixedFocusQuantity::incentive)}) {
      const PlotResult result = draw_fixed_focus(all, quantity, options.step, folder.file(std::string(name) + kind));
      if (!result.drawn) std::fprintf(stderr, "fcam-fixed-focus: %s\n", result.note.c_str());
    }
  }
}

// What the folder holds of a run that goes on.
SeriesMap series_to_keep(const Options& options, const CommandLine& line, const OutputFolder& folder) {
  Options recorded;
  CommandLine recorded_line("fcam-fixed-focus", "");
  declare_all(recorded_line, recorded);
  require_unchanged(line, recorded_line, folder.config(), {"loss", "alpha"});
  return read_series(folder.file("loss.csv"), folder.file("incentive.csv"), options.epochs);
}

int run_all(Options& options, CommandLine& line) {
  const std::vector<SeriesKey> keys = requested(options);
  const Mosaics mosaics = load_mosaics(options.data, line, options.common.seed, Split::train);
  if (!mosaics.knows_positions()) throw UsageError("data: expected mosaics with known positions, found none");
  for (const SeriesKey& key : keys) require_alpha(key.second, mosaics.patches());
  choose_networks(options.networks, mosaics.shape(), options.data.kind());
  // f is not used. All trainings start from the same g.
  Model<float> start(mosaics.shape(), mosaics.classes(),
                     {.focus = "linear", .classify = options.networks.classify, .seed = options.common.seed});
  Trainer<float>(start, losses::soft, trainer_options(options, paper_losses()[0], mosaics.shape()));  // checks options
  const OutputFolder folder = options.folder();
  SeriesMap all;
  FolderLock lock;
  if (options.place.resume && folder.holds_run()) {
    lock.take(folder.path);
    all = series_to_keep(options, line, folder);
  }
  folder.open(options.place, lock);
  write_atomically(folder.config(), "# fcam-fixed-focus --config FILE runs this again\n" + line.to_toml());

  const StopSignals signals;
  Progress progress(options.common.quiet);
  const std::size_t work = options.epochs * mosaics.count();
  std::size_t finished = static_cast<std::size_t>(
      std::count_if(keys.begin(), keys.end(), [&](const SeriesKey& key) { return all.contains(key); }));
  progress.line("run " + quote(folder.path) + ", " + std::to_string(finished) + " of " + std::to_string(keys.size()) +
                " trainings are there");
  progress.start("fixed focus", keys.size() * work, finished * work);
  for (const SeriesKey& key : keys) {
    if (all.contains(key)) continue;
    const std::string name = to_string(key);
    const auto goes_on = [&](std::size_t done, double value) {
      progress.advance(finished * work + done, name + ", loss " + fixed(value, 4));
      return signals.received() == 0;
    };
    const auto report = [&](std::size_t epoch, const FixedFocus& at) {
      progress.line_without_bar(name + ", epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs) +
                                "  loss " + fixed(at.loss, 4) + "  incentive " + fixed(at.difference, 6) +
                                "  derivative " + fixed(at.derivative, 4));
    };
    std::vector<FixedFocus> series = train_one(options, mosaics, start, key, goes_on, report);
    if (series.size() <= options.epochs) {
      progress.finish();
      std::fprintf(stderr,
                   "fcam-fixed-focus: stopped with %zu of %zu trainings finished; the same command with --resume goes "
                   "on\n",
                   finished, keys.size());
      return 128 + signals.received();
    }
    ++finished;
    all.emplace(key, std::move(series));
    write_atomically(folder.file("loss.csv"), loss_csv(all));
    write_atomically(folder.file("incentive.csv"), incentive_csv(all));
  }
  progress.finish();
  std::cout << table(all);
  if (options.plot) draw(options, folder, all);
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-fixed-focus", [&] {
    CommandLine line(
        "fcam-fixed-focus",
        "Trains the classification network alone, with attention held at alpha on the true foreground, and "
        "measures loss and incentive to focus.");
    Options options;
    declare_all(line, options);
    line.examples(
        "  fcam-fixed-focus --data linear --plot\n"
        "  fcam-fixed-focus --data shapes --epochs 10 --alpha 0.5,1 --out runs/fixed\n"
        "  fcam-fixed-focus --resume --out runs/fixed --loss sa\n");
    const auto parsed = line.parse(
        argc, argv,
        [&] {
          choose_sizes(options, line);  // the name of the folder depends on them
          return options.folder().config_to_resume(options.place);
        },
        true);
    if (parsed == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return run_all(options, line);
  });
}
