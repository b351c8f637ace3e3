// summary.json of a training run: what it has come to, and what it has cost.
#pragma once

#include "common/run.h"

namespace fcam::apps {

/// What a run has cost: time, and patches that g has seen and had a gradient of.
struct Cost {
  double seconds = 0, forward = 0, backward = 0;

  void add(const Epoch& epoch);
};

/// That of the epochs in a log, of so many mosaics each.
Cost cost_of(const std::string& log, std::size_t mosaics);

/// Writes the summary of a run whose last epoch is `last`. Throws WriteError.
void write_summary(const RunFolder& folder, const RunOptions& options, const Trainer<float>& trainer, const Epoch& last,
                   const Cost& cost);

/// Corrects what ended the run, where its end has come by other options than those of its last epoch.
void settle_summary(const RunFolder& folder, const Trainer<float>& trainer);

}  // namespace fcam::apps
