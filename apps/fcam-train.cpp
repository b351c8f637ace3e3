// fcam-train: trains an attention model and keeps the run in a folder.
#include <cmath>
#include <cstdio>

#include "common/metrics_json.h"
#include "common/progress.h"
#include "common/run.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/training/checkpoint.h"
#include "fcam/training/model_file.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options : RunOptions {
  std::string out;
  bool resume = false, force = false, dry_run = false;

  RunFolder folder() const { return RunFolder(out.empty() ? default_run_folder(*this) : out); }
};

void declare_all(CommandLine& line, Options& options) {
  line.group("Run");
  line.text("out", options.out, "folder of the run (default: runs/DATA-LOSS-mM-sS)", "DIR");
  line.flag("resume", options.resume, "go on with the run in the folder, with its options; start it where there is none");
  line.flag("force", options.force, "replace the run in the folder");
  line.flag("dry-run", options.dry_run, "say what would be trained, and stop");
  for (const char* name : {"out", "resume", "force", "dry-run"}) line.not_recorded(name);
  declare(line, options);
}

std::string percent(double fraction) { return std::isnan(fraction) ? "-" : fixed(100 * fraction, 1) + "%"; }

std::string epoch_line(const Epoch& epoch, std::size_t epochs) {
  const auto part = [](const char* name, const Metrics& m) {
    return std::string(name) + " loss " + fixed(m.loss, 4) + " accuracy " + percent(m.accuracy) + " saif " +
           percent(m.saif);
  };
  std::string text =
      "epoch " + std::to_string(epoch.number) + "/" + std::to_string(epochs) + "  " + part("train", epoch.train);
  if (epoch.test) text += "  " + part("test", *epoch.test);
  return text + "  " + fixed(epoch.seconds, 1) + " s";
}

std::string description(const Options& options, const Mosaics& train, const Model<float>& model) {
  const TrainerOptions trainer = trainer_options(options);
  std::string text = "data      " + options.data.data + ": " + std::to_string(train.count()) + " mosaics of " +
                     std::to_string(train.patches()) + " patches " + to_string(train.shape()) + ", classes";
  for (const auto& name : train.class_names()) text += " " + quote(name);
  const auto network = [](const Network<float>& n) {
    return to_string(n.spec()) + " (" + std::to_string(n.weights().size()) + " weights)";
  };
  text += "\nfocus     " + network(model.focus) + "\nclassify  " + network(model.classify);
  text += "\nloss      " + options.loss + ", " + options.optimizer + " with learning rate " +
          shortest(trainer.learning_rate);
  if (options.optimizer == "sgd") text += ", momentum " + shortest(trainer.momentum);
  text += "\nsteps     " + std::to_string(1 + (train.count() - 1) / options.batch) + " an epoch, " +
          std::to_string(options.epochs) + " epochs, " + std::to_string(options.common.threads) + " threads\n";
  return text;
}

void load_run(const RunFolder& folder, const Options& options, Trainer<float>& trainer) {
  load_checkpoint(folder.checkpoint(), trainer);
  if (trainer.epochs_done() > options.epochs) {
    throw UsageError("epochs: expected at least " + std::to_string(trainer.epochs_done()) + ", which the run in " +
                     quote(folder.path) + " has done, found " + std::to_string(options.epochs));
  }
}

// Data of one's own may differ between the two.
void require_alike(const DataOptions& data, const Mosaics& train, const Mosaics& test) {
  const auto describe = [](const Mosaics& mosaics) {
    return std::to_string(mosaics.patches()) + " patches " + to_string(mosaics.shape());
  };
  if (describe(train) == describe(test)) return;
  throw DataError(quote(data.data) + ": expected test mosaics of " + describe(train) +
                  ", as the training mosaics are, found " + describe(test));
}

// How long the epochs so far have taken, where a summary says so.
double seconds_before(const RunFolder& folder) {
  if (!is_there(folder.summary())) return 0;
  const auto summary = nlohmann::json::parse(read_bytes(folder.summary()), nullptr, false);
  const auto seconds = summary.is_object() ? summary.find("seconds") : summary.end();
  return seconds != summary.end() && seconds->is_number() ? seconds->get<double>() : 0;
}

void write_summary(const RunFolder& folder, const Options& options, const Epoch& last, double seconds) {
  nlohmann::ordered_json summary{{"run", folder.path},          {"data", options.data.data}, {"loss", options.loss},
                                 {"seed", options.common.seed}, {"epochs", last.number},     {"seconds", seconds}};
  summary["train"] = to_json(last.train);
  if (last.test) {
    summary["test"] = to_json(*last.test);
  } else {
    summary["test"] = nullptr;
  }
  write_atomically(folder.summary(), json_text(summary));
}

int train(Options& options, CommandLine& line) {
  const NamedLoss& loss = find_loss(options.loss);
  options.learning_rate = trainer_options(options).learning_rate;
  const Mosaics train = load_mosaics(options.data, line, options.common.seed, Split::train);
  const Mosaics test = load_mosaics(options.data, line, options.common.seed, Split::test);
  require_alike(options.data, train, test);
  choose_networks(options.networks, train.shape(), options.data.kind());
  Model<float> model(
      train.shape(), train.classes(),
      {.focus = options.networks.focus, .classify = options.networks.classify, .seed = options.common.seed});
  const RunFolder folder = options.folder();
  const bool goes_on = options.resume && is_there(folder.checkpoint());
  if (options.resume && folder.holds_run()) {
    Options recorded;
    CommandLine recorded_line("fcam-train", "");
    declare_all(recorded_line, recorded);
    require_unchanged(line, recorded_line, folder.config(), {"epochs", "eval-every"});
  }
  if (!options.init.empty() && !goes_on) load(model, options.init);
  Trainer<float> trainer(model, loss_function<float>(loss), trainer_options(options));
  if (goes_on) load_run(folder, options, trainer);
  if (options.dry_run) {
    std::fputs(description(options, train, model).c_str(), stdout);
    return exit_done;
  }

  folder.open(options.resume, options.force);
  const StopSignals signals;
  Progress progress(options.common.quiet);
  const std::string done = std::to_string(trainer.epochs_done());
  if (goes_on && trainer.epochs_done() == options.epochs && is_there(folder.model())) {
    save(model, folder.model());  // the one that is there may be of before the last epochs
    progress.line("run " + quote(folder.path) + " has done its " + done + " epochs");
    return exit_done;
  }
  folder.remove_model();  // of an earlier end, where the run goes on
  progress.line("run " + quote(folder.path) + (goes_on ? ", going on after epoch " + done : ""));
  write_atomically(folder.config(), "# fcam-train --config FILE runs this again\n" + line.to_toml());
  Log log = goes_on ? Log::resume(folder.log(), trainer.epochs_done()) : Log(folder.log());
  double seconds = goes_on ? seconds_before(folder) : 0;

  progress.start(options.loss, options.epochs * train.count(), trainer.epochs_done() * train.count());
  trainer.on_step([&](std::size_t mosaics, double value) {
    progress.advance(trainer.epochs_done() * train.count() + mosaics, "loss " + fixed(value, 4));
    return signals.received() == 0;
  });
  const bool finished = trainer.run(train, &test, [&](const Epoch& epoch) {
    seconds += epoch.seconds;
    log.append(epoch);
    write_summary(folder, options, epoch, seconds);
    save_checkpoint(folder.checkpoint(), trainer);
    progress.line(epoch_line(epoch, options.epochs));
    return signals.received() == 0 || epoch.number == options.epochs;  // a finished run is finished
  });
  progress.finish();
  if (!finished) {
    std::fprintf(stderr, "fcam-train: stopped after epoch %zu; the same command with --resume goes on\n",
                 trainer.epochs_done());
    return 128 + signals.received();
  }
  save(model, folder.model());
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-train", [&] {
    CommandLine line("fcam-train", "Trains a focus network and a classification network on mosaics.");
    Options options;
    declare_all(line, options);
    line.examples(
        "  fcam-train --loss lv --epochs 20\n"
        "  fcam-train --data cifar10:data/cifar-10-batches-bin --foreground cat,dog\n"
        "  fcam-train --data shapes --loss ha --classify 'conv8k3 relu pool2 fc32 relu'\n"
        "  fcam-train --resume --out runs/fashion-mnist-lv-m5-s1\n");
    const auto parsed =
        line.parse(argc, argv, [&] { return options.folder().config_to_resume(options.resume, options.force); });
    if (parsed == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return train(options, line);
  });
}
