#include "common/trained_model.h"

#include <utility>

#include "fcam/training/model_file.h"

namespace fcam::apps {

TrainedModel load_trained(RunOptions options, const CommandLine& line, const std::string& weights, Split split) {
  const NamedLoss& loss = find_loss(options.loss);
  Mosaics mosaics = load_mosaics(options.data, line, options.common.seed, split);
  choose_networks(options.networks, mosaics.shape(), options.data.kind());
  Model<float> model(mosaics.shape(), mosaics.classes(),
                     {.focus = options.networks.focus, .classify = options.networks.classify});
  load(model, weights);
  return {loss, std::move(mosaics), std::move(model)};
}

}  // namespace fcam::apps
