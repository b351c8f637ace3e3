// fcam-train: trains an attention model and keeps the run in a folder.
#include <cmath>
#include <cstdio>
#include <optional>

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
  std::string out, init;
  bool resume = false, force = false, dry_run = false;
};

std::string percent(double fraction) { return std::isnan(fraction) ? "-" : fixed(100 * fraction, 1) + "%"; }

std::string epoch_line(const Epoch& epoch, std::size_t epochs) {
  const auto part = [](const char* name, const Metrics& m) {
    return std::string(name) + " loss " + fixed(m.loss, 4) + " accuracy " + percent(m.accuracy) + " saif " + percent(m.saif);
  };
  std::string text = "epoch " + std::to_string(epoch.number) + "/" + std::to_string(epochs) + "  " + part("train", epoch.train);
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
  text += "\nloss      " + options.loss + ", " + options.optimizer + " with learning rate " + shortest(trainer.learning_rate);
  if (options.optimizer == "sgd") text += ", momentum " + shortest(trainer.momentum);
  text += "\nsteps     " + std::to_string((train.count() + options.batch - 1) / options.batch) + " an epoch, " +
          std::to_string(options.epochs) + " epochs, " + std::to_string(options.common.threads) + " threads\n";
  return text;
}

// Prepares the folder; says whether there is a checkpoint to go on from.
bool open_folder(const RunFolder& folder, const Options& options) {
  if (folder.holds_run() && !options.resume && !options.force) {
    throw UsageError("out: expected a folder without a run, found one in " + quote(folder.path) +
                     "; --resume goes on with it, --force starts it anew");
  }
  folder.create();
  if (options.force && !options.resume) folder.clear();
  std::FILE* const checkpoint = options.resume ? std::fopen(folder.checkpoint().c_str(), "rb") : nullptr;
  if (checkpoint != nullptr) std::fclose(checkpoint);
  return checkpoint != nullptr;
}

void write_summary(const RunFolder& folder, const Options& options, const Epoch& last, double seconds) {
  nlohmann::ordered_json summary{{"run", folder.path}, {"data", options.data.data}, {"loss", options.loss},
                                 {"seed", options.common.seed}, {"epochs", last.number}, {"seconds", seconds}};
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
  choose_networks(options.networks, train.shape());
  Model<float> model(train.shape(), train.classes(),
                     {.focus = options.networks.focus, .classify = options.networks.classify, .seed = options.common.seed});
  if (!options.init.empty()) load(model, options.init);
  Trainer<float> trainer(model, loss_function<float>(loss), trainer_options(options));
  if (options.dry_run) {
    std::fputs(description(options, train, model).c_str(), stdout);
    return exit_done;
  }

  const RunFolder folder{options.out.empty() ? default_run_folder(options) : options.out};
  const bool goes_on = open_folder(folder, options);
  if (goes_on) load_checkpoint(folder.checkpoint(), trainer);
  write_atomically(folder.config(), "# fcam-train --config FILE runs this again\n" + line.to_toml());
  Log log = goes_on ? Log::resume(folder.log(), trainer.epochs_done()) : Log(folder.log());

  Progress progress(options.common.quiet);
  progress.line("run " + folder.path + (goes_on ? ", going on after epoch " + std::to_string(trainer.epochs_done()) : ""));
  const StopSignals signals;
  const std::size_t total = options.epochs * train.count();
  progress.start(options.loss, total, trainer.epochs_done() * train.count());
  trainer.on_step([&](std::size_t done, double value) {
    progress.advance(trainer.epochs_done() * train.count() + done, "loss " + fixed(value, 4));
    return signals.received() == 0;
  });
  std::optional<Epoch> last;
  double seconds = 0;
  const bool finished = trainer.run(train, &test, [&](const Epoch& epoch) {
    log.append(epoch);
    save_checkpoint(folder.checkpoint(), trainer);
    progress.line(epoch_line(epoch, options.epochs));
    last = epoch;
    seconds += epoch.seconds;
    return signals.received() == 0;
  });
  progress.finish();
  if (!finished) {
    std::fprintf(stderr, "fcam-train: stopped after epoch %zu; the same command with --resume goes on\n", trainer.epochs_done());
    return 128 + signals.received();
  }
  save(model, folder.model());
  if (last) write_summary(folder, options, *last, seconds);
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-train", [&] {
    CommandLine line("fcam-train", "Trains a focus network and a classification network on mosaics.");
    Options options;
    declare(line, options);
    line.group("Run");
    line.text("out", options.out, "folder of the run (default: runs/DATA-LOSS-mM-sS)", "DIR");
    line.text("init", options.init, "weights to start from, safetensors", "FILE");
    line.flag("resume", options.resume, "go on with the run in the folder, with its options");
    line.flag("force", options.force, "replace the run in the folder");
    line.flag("dry-run", options.dry_run, "say what would be trained, and stop");
    for (const char* name : {"out", "resume", "force", "dry-run"}) line.not_configurable(name);
    line.examples(
        "  fcam-train --loss lv --epochs 20\n"
        "  fcam-train --data cifar10:data/cifar-10-batches-bin --foreground cat,dog --loss sa\n"
        "  fcam-train --data shapes --loss ha --focus small --classify 'conv8k3 relu pool2 fc32 relu'\n"
        "  fcam-train --resume --out runs/fashion-mnist-lv-m5-s1\n");
    const auto config_of_run = [&] {
      return options.resume && !options.out.empty() ? RunFolder{options.out}.config() : std::string();
    };
    if (line.parse(argc, argv, config_of_run) == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return train(options, line);
  });
}
