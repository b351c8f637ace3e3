// All that a training run needs to go on as if it had never stopped, in one file.
#pragma once

#include <string>
#include <vector>

#include "fcam/training/trainer.h"

namespace fcam {

/// What a checkpoint belongs to: texts that must be the same when the run goes on.
struct RunIdentity {
  std::string run = {};   ///< such as a hash of all options that decide what comes out
  std::string data = {};  ///< such as a hash of the content of the data; empty: not known
};

/// Writes weights, optimiser state and TrainerState, atomically: between two epochs or within one, in a callback of the
/// trainer or after its run. Throws WriteError.
void save_checkpoint(const std::string& path, Trainer<float>& trainer, const RunIdentity& identity = {});

/// Puts a trainer of the same networks and optimiser where the checkpoint was written. Throws DataError where the file
/// is damaged, of another run or on other data, where both are known; then the trainer is unchanged.
void load_checkpoint(const std::string& path, Trainer<float>& trainer, const RunIdentity& identity = {});

/// TrainerState::focus of a checkpoint, which tell which phase of a plan it is in. Throws DataError.
std::vector<EpochFocus> read_focus(const std::string& path);

}  // namespace fcam
