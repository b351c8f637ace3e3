// A training run: its options and the files of its folder.
#pragma once

#include <string>

#include "common/model_options.h"
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
  std::string optimizer = "sgd";
  std::string init;  ///< file of weights to start from; empty: drawn from the seed

  RunOptions();
};

/// Declares them. Where a trained model is only looked at, those that do not matter then are hidden from --help.
void declare(CommandLine& line, RunOptions& options, bool trained = false);

/// The options of a trainer, learning rate resolved.
TrainerOptions trainer_options(const RunOptions& options);

/// Whether there is something of that name.
bool is_there(const std::string& path);

/// Names of the files in a run's folder.
struct RunFolder {
  std::string path;

  std::string config() const { return path + "/config.toml"; }
  std::string log() const { return path + "/log.csv"; }
  std::string checkpoint() const { return path + "/checkpoint.safetensors"; }
  std::string model() const { return path + "/model.safetensors"; }
  std::string summary() const { return path + "/summary.json"; }
  /// Whether one of the files is there.
  bool holds_run() const;
  /// Makes the folder and those above it. Throws WriteError.
  void create() const;
  /// Throws WriteError where one of the files could not be written; removes what a killed program has left of them. Not
  /// for a folder that another program works in.
  void check_writable() const;
  /// Removes the files. Throws WriteError.
  void clear() const;
  /// Removes the weights alone. Throws WriteError.
  void remove_model() const;
};

/// Keeps other programs out of a folder while it lives; ends with the process, however that ends.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// Throws UsageError where another program has it.
  void take(const RunFolder& folder);

 private:
  int descriptor_ = -1;
};

/// runs/DATA-LOSS-mM-sS
std::string default_run_folder(const RunOptions& options);

}  // namespace fcam::apps
