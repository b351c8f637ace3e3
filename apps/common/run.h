// A training run: its options and the files of its folder.
#pragma once

#include <string>
#include <vector>

#include "common/model_options.h"
#include "common/output_folder.h"
#include "common/program.h"
#include "fcam/attention/losses.h"
#include "fcam/training/trainer.h"

namespace fcam::apps {

/// Everything that config.toml records.
struct RunOptions {
  CommonOptions common;
  DataOptions data;
  NetworkOptions networks;
  std::string loss = "sa";
  std::size_t epochs = 100, batch = 256, eval_every = 1;
  double learning_rate;  ///< NaN: the one that suits the loss
  double momentum = 0.9;
  std::size_t patience = 0;  ///< 0: none
  double stop_loss;          ///< NaN: none
  double weight_decay = 0;
  std::string optimizer = "sgd", schedule = "constant";
  std::vector<std::string> augmentation;
  std::size_t samples = 1, top = 1;  ///< of losses that look at few patches
  std::string reward = "log";
  std::string switch_epoch = "auto", then = "ha";  ///< of hybrid
  std::size_t blend = 0;
  double then_learning_rate;  ///< NaN: the one that suits the loss
  std::string init;           ///< file of weights to start from; empty: drawn from the seed

  RunOptions();
};

/// Declares them. Where a trained model is only looked at, those that do not matter then are hidden from --help.
void declare(CommandLine& line, RunOptions& options, bool trained = false);

/// The options of a trainer.
TrainerOptions trainer_options(const RunOptions& options);

/// What its options say of the loss and of the learning rate. Throws UsageError where the switch is no epoch.
PlanOptions plan_options(const RunOptions& options);

/// What it trains with. Throws UsageError where an option is given that the loss has no use for.
Plan<float> training_plan(const RunOptions& options);

/// The loss with what is particular to the run, such as "lv-topk 2": what runs are told apart by.
std::string method_of(const RunOptions& options);

/// The files in the folder of a training run.
struct RunFolder : OutputFolder {
  explicit RunFolder(const std::string& folder);

  std::string log() const { return path + "/log.csv"; }
  std::string checkpoint() const { return path + "/checkpoint.safetensors"; }
  std::string model() const { return path + "/model.safetensors"; }
  std::string summary() const { return path + "/summary.json"; }
  /// Removes the weights alone. Throws WriteError.
  void remove_model() const;
};

/// runs/DATA-LOSS-mM-sS
std::string default_run_folder(const RunOptions& options);

}  // namespace fcam::apps
