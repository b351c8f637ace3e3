#include "common/trained_model.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "fcam/training/checkpoint.h"
#include "fcam/training/model_file.h"

namespace fcam::apps {
namespace {

// The phase of the last epoch that was trained.
Phase<float> last_phase(const RunOptions& options, const std::string& weights) {
  const std::string checkpoint = (std::filesystem::path(weights).parent_path() / "checkpoint.safetensors").string();
  if (options.loss != "hybrid" || !is_there(checkpoint))
    return named_plan<float>(find_loss(find_loss(options.loss).exact), plan_options(options)).phase({});
  std::vector<EpochFocus> epochs = read_focus(checkpoint);
  if (!epochs.empty()) epochs.pop_back();
  return training_plan(options).phase(epochs);
}

}  // namespace

TrainedModel load_trained(RunOptions options, const CommandLine& line, const std::string& weights, Split split) {
  Mosaics mosaics = load_mosaics(options.data, line, options.common.seed, split);
  choose_networks(options.networks, mosaics.shape(), options.data.kind());
  Model<float> model(mosaics.shape(), mosaics.classes(),
                     {.focus = options.networks.focus, .classify = options.networks.classify});
  load(model, weights);
  Phase<float> phase = last_phase(options, weights);
  return {std::move(phase.test_loss), phase.test_inference.value(), std::move(mosaics), std::move(model)};
}

}  // namespace fcam::apps
