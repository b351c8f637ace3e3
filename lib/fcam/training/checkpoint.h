// All that a training run needs to go on as if it had never stopped, in one file.
#pragma once

#include <string>
#include <vector>

#include "fcam/training/trainer.h"

namespace fcam {

/// Writes weights, optimiser state and TrainerState, atomically: between two epochs or within one, in a callback of the
/// trainer or after its run. `run` says which run it is of: a text that must be the same when it goes on, such as all
/// that decides what comes out. Throws WriteError.
void save_checkpoint(const std::string& path, Trainer<float>& trainer, const std::string& run = {});

/// Puts a trainer of the same networks and optimiser where the checkpoint was written. Throws DataError where the file
/// is damaged or of another run; then the trainer is unchanged.
void load_checkpoint(const std::string& path, Trainer<float>& trainer, const std::string& run = {});

/// TrainerState::focus of a checkpoint, which tell which phase of a plan it is in. Throws DataError.
std::vector<EpochFocus> read_focus(const std::string& path);

}  // namespace fcam
