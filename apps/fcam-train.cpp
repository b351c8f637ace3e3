// fcam-train: trains an attention model and keeps the run in a folder.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "common/outputs.h"
#include "common/progress.h"
#include "common/run.h"
#include "common/run_summary.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/fnv.h"
#include "fcam/base/text.h"
#include "fcam/training/checkpoint.h"
#include "fcam/training/model_file.h"
#include "fcam/training/warnings.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options : RunOptions {
  FolderOptions place;
  bool dry_run = false;

  RunFolder folder() const { return RunFolder(place.path.empty() ? default_run_folder(*this) : place.path); }
};

void declare_all(CommandLine& line, Options& options) {
  declare(line, options.place, "runs/DATA-LOSS-mM-sS",
          "go on with the run in the folder, with its options; start it where there is none");
  line.flag("dry-run", options.dry_run, "say what would be trained, and stop");
  line.not_recorded("dry-run");
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
  text += "\nloss      " + method_of(options) + ", " + options.optimizer + " with learning rate " +
          shortest(trainer.learning_rate);
  if (options.optimizer == "sgd") text += ", momentum " + shortest(trainer.momentum);
  if (options.schedule != "constant") text += ", schedule " + options.schedule;
  if (options.weight_decay > 0) text += ", weight decay " + shortest(options.weight_decay);
  for (const std::string& name : options.augmentation) text += ", augmented by " + name;
  if (options.patience > 0) text += ", patience " + std::to_string(options.patience);
  if (!std::isnan(options.stop_loss)) text += ", stop at loss " + shortest(options.stop_loss);
  text += "\nsteps     " + std::to_string(1 + (train.count() - 1) / options.batch) + " an epoch, " +
          std::to_string(options.epochs) + " epochs, " + std::to_string(options.common.threads) + " threads\n";
  return text;
}

// A run that goes on may end elsewhere and be evaluated at other epochs; everything else stays.
const std::vector<std::string> may_change{"epochs", "eval-every", "stop-loss", "patience"};

// What a checkpoint says of the run it belongs to.
std::string fingerprint(const CommandLine& line) {
  Options usual;
  CommandLine usual_line("fcam-train", "");
  declare_all(usual_line, usual);
  Fnv hash;  // of what differs from the defaults, so that an option that comes later changes nothing
  for (const std::string& name : line.recorded()) {
    const std::string value = line.to_toml(name);
    const bool changes = std::find(may_change.begin(), may_change.end(), name) != may_change.end();
    if (!changes && value != usual_line.to_toml(name)) hash.add(name + " " + value);
  }
  return hexadecimal(hash.value());
}

// What a checkpoint says of the data under it: the hashes that fcam-mosaic prints of both parts.
std::string hash_of(const Mosaics& train, const Mosaics& test) {
  const auto hash = [](const Mosaics& mosaics) {
    return hexadecimal(mosaics.ready_made() ? content_hash(mosaics) : content_hash(mosaics.images()));
  };
  return hash(train) + " " + hash(test);
}

// The options that the run has had. Patience is kept, too, but for its number: without it no best weights are there to
// go back to.
Options require_same_run(const CommandLine& line, const Options& options, const RunFolder& folder) {
  Options recorded;
  CommandLine recorded_line("fcam-train", "");
  declare_all(recorded_line, recorded);
  std::vector<std::string> free = may_change;
  if (options.schedule != "constant") std::erase(free, "epochs");  // the learning rate follows them
  require_unchanged(line, recorded_line, folder.config(), free);
  if ((options.patience > 0) == (recorded.patience > 0)) return recorded;
  throw UsageError("patience: expected " + std::to_string(recorded.patience) + ", as " + quote(folder.config()) +
                   " has, found " + std::to_string(options.patience));
}

void load_run(const RunFolder& folder, const Options& options, const RunIdentity& identity, Trainer<float>& trainer) {
  load_checkpoint(folder.checkpoint(), trainer, identity);
  const std::size_t reached = trainer.epochs_done() + (trainer.state().mosaics > 0 ? 1 : 0);
  if (reached > options.epochs) {
    throw UsageError("epochs: expected at least " + std::to_string(reached) + ", which the run in " +
                     quote(folder.path) + " has reached, found " + std::to_string(options.epochs));
  }
}

// The weights to start from are read where a run begins, and its folder is emptied for it.
void require_other_start(const RunFolder& folder, const std::string& init) {
  for (const std::string& name : folder.names) {
    if (!same_file(folder.file(name), init)) continue;
    throw UsageError("init: expected another file than those of the run in " + quote(folder.path) +
                     ", which the new one replaces, found " + quote(init));
  }
}

void save_weights(const RunFolder& folder, Trainer<float>& trainer) {
  trainer.use_best();
  save(trainer.model(), folder.model());
}

// Whether an epoch is not tested but for being the last one.
bool untested(std::size_t epoch, const Options& options) {
  return options.eval_every == 0 || epoch % options.eval_every != 0;
}

// Trains to the end or to a signal; true at the end. `before`: the options so far of a run that goes on, else null.
bool train_on(const Options& options, const RunFolder& folder, const RunIdentity& identity, Trainer<float>& trainer,
              const Mosaics& train, const Mosaics& test, const Options* before, Progress& progress,
              const StopSignals& signals) {
  const std::size_t done = trainer.epochs_done();
  Log log = before == nullptr ? Log(folder.log())
                              : Log::resume(folder.log(), done, untested(done, options) && untested(done, *before));
  Cost cost = cost_of(folder.log(), train.count());
  // In a short run sooner: what is so to the third epoch is to be known.
  Warnings warnings(train.patches(), train.class_names(), std::clamp<std::size_t>(options.epochs, 3, 5));
  const auto mosaics_done = [&] { return trainer.epochs_done() * train.count() + trainer.state().mosaics; };
  progress.start(options.loss, options.epochs * train.count(), mosaics_done());
  trainer.on_step([&](std::size_t, double value) {
    progress.advance(mosaics_done(), "loss " + fixed(value, 4));
    return signals.received() == 0;
  });
  trainer.on_test([&](std::size_t tested) {
    progress.advance(mosaics_done(), "test " + std::to_string(100 * tested / test.count()) + "%");
    return signals.received() == 0;
  });
  const bool finished = trainer.run(train, &test, [&](const Epoch& epoch) {
    cost.add(epoch);
    log.append(epoch);
    write_summary(folder, options, trainer, epoch, cost);
    folder.remove_model();  // of an earlier end, where the run goes on
    save_checkpoint(folder.checkpoint(), trainer, identity);
    progress.line(epoch_line(epoch, options.epochs));
    for (const auto& text : warnings.see(epoch)) progress.line("fcam-train: warning: " + text);
    return signals.received() == 0 || trainer.ending() != Ending::none;  // a finished run is finished
  });
  progress.finish();
  return finished;
}

// Keeps a run that a signal has stopped.
void keep_stopped(const RunFolder& folder, const RunIdentity& identity, Trainer<float>& trainer, std::size_t count) {
  const std::size_t mosaics = trainer.state().mosaics;
  if (mosaics > 0) {
    folder.remove_model();
    save_checkpoint(folder.checkpoint(), trainer, identity);
  }
  std::string place = "after epoch " + std::to_string(trainer.epochs_done());
  if (mosaics > 0) place += " and " + std::to_string(mosaics) + " of " + std::to_string(count) + " mosaics of the next";
  std::fprintf(stderr, "fcam-train: stopped %s; the same command with --resume goes on\n", place.c_str());
}

int train(Options& options, CommandLine& line) {
  const Plan<float> plan = training_plan(options);
  options.learning_rate = trainer_options(options).learning_rate;
  const Mosaics train = load_mosaics(options.data, line, options.common.seed, Split::train);
  const Mosaics test = load_mosaics(options.data, line, options.common.seed, Split::test);
  require_alike(options.data, train, test);
  choose_networks(options.networks, train.shape(), options.data.kind());
  Model<float> model(
      train.shape(), train.classes(),
      {.focus = options.networks.focus, .classify = options.networks.classify, .seed = options.common.seed});
  const RunFolder folder = options.folder();
  FolderLock lock;
  Options before;
  if (options.place.resume && folder.holds_run()) {
    if (!options.dry_run) lock.take(folder.path);
    before = require_same_run(line, options, folder);
  }
  const bool goes_on = options.place.resume && is_there(folder.checkpoint());
  const bool lost = options.place.resume && !goes_on && is_there(folder.summary());
  const RunIdentity identity{.run = fingerprint(line), .data = hash_of(train, test)};
  if (!options.init.empty() && !goes_on) {
    require_other_start(folder, options.init);
    load(model, options.init);
  }
  Trainer<float> trainer(model, plan, trainer_options(options));
  if (goes_on) load_run(folder, options, identity, trainer);
  if (options.dry_run) {
    std::cout << description(options, train, model);
    return exit_done;
  }

  folder.open(options.place, lock);
  const StopSignals signals;
  Progress progress(options.common.quiet);
  const std::string done = std::to_string(trainer.epochs_done());
  const bool ended = trainer.ending() != Ending::none;
  progress.line("run " + quote(folder.path) +
                (ended     ? " has done its " + done + " epochs"
                 : goes_on ? ", going on after epoch " + done
                           : ""));
  if (train.knows_positions() != test.knows_positions()) {
    progress.line(std::string("fcam-train: warning: positions are known of the ") +
                  (train.knows_positions() ? "training" : "test") + " bags only: the others have empty cells");
  }
  if (lost) progress.line("fcam-train: warning: no checkpoint is left of the run: it starts anew");
  write_atomically(folder.config(), "# fcam-train --config FILE runs this again\n" + line.to_toml());
  if (ended) {
    settle_summary(folder, trainer);
  } else if (!train_on(options, folder, identity, trainer, train, test, goes_on ? &before : nullptr, progress,
                       signals)) {
    keep_stopped(folder, identity, trainer, train.count());
    return 128 + signals.received();
  }
  save_weights(folder, trainer);  // those that are there may be of before the last epochs
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
    const auto parsed = line.parse(
        argc, argv, [&] { return options.folder().config_to_resume(options.place); }, true);
    if (parsed == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return train(options, line);
  });
}
