// A trained model beside mosaics of its data, as the programs that look at runs need it.
#pragma once

#include <string>

#include "common/run.h"

namespace fcam::apps {

struct TrainedModel {
  LossFunction<float> loss;  ///< that the model is tested by
  Inference inference;       ///< that goes with it
  Mosaics mosaics;
  Model<float> model;
};

/// Loads the data and the weights at `weights`, where `options` are those of the training and `line` is what they were
/// read from. A hybrid is tested by the phase that it has come to, which the checkpoint beside the weights knows; where
/// there is none, by hard attention. Throws UsageError, DataError.
TrainedModel load_trained(RunOptions options, const CommandLine& line, const std::string& weights, Split split);

}  // namespace fcam::apps
