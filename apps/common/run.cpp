#include "common/run.h"

#include <cmath>
#include <limits>

namespace fcam::apps {

RunOptions::RunOptions() : learning_rate(std::numeric_limits<double>::quiet_NaN()) {}

void declare(CommandLine& line, RunOptions& options, bool trained) {
  constexpr auto unbounded = std::numeric_limits<std::size_t>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::string> losses;
  for (const NamedLoss& loss : named_losses()) losses.push_back(loss.name);
  line.group(trained ? "Model" : "Training");
  line.choice("loss", options.loss, losses, "soft attention, hard attention, or latent variable marginal likelihood");
  if (trained) line.group("");
  line.count("epochs", options.epochs, 1, unbounded, "times that every mosaic is seen");
  line.count("batch", options.batch, 1, unbounded, "mosaics a step");
  line.number("lr", options.learning_rate, 0, infinity, "learning rate (default: sa and lv 0.05, ha 0.01)");
  line.number("momentum", options.momentum, 0, 1, "of sgd, below 1");
  line.choice("optimizer", options.optimizer, {"sgd", "adam"}, "update rule");
  line.count("eval-every", options.eval_every, 0, unbounded,
             "epochs between evaluations on the test mosaics; 0: never");
  line.text("init", options.init, "weights to start from, safetensors (default: drawn from the seed)", "FILE");
  declare(line, options.data);
  declare(line, options.networks);
  declare(line, options.common);
}

TrainerOptions trainer_options(const RunOptions& options) {
  const NamedLoss& loss = find_loss(options.loss);
  return {.epochs = options.epochs,
          .batch = options.batch,
          .learning_rate = std::isnan(options.learning_rate) ? loss.learning_rate : options.learning_rate,
          .momentum = options.momentum,
          .optimizer = options.optimizer == "adam" ? OptimizerOptions::Kind::adam : OptimizerOptions::Kind::sgd,
          .inference = loss.inference,
          .seed = options.common.seed,
          .eval_every = options.eval_every,
          .threads = static_cast<int>(options.common.threads)};
}

RunFolder::RunFolder(const std::string& folder)
    : OutputFolder{folder, {"config.toml", "log.csv", "checkpoint.safetensors", "model.safetensors", "summary.json"}} {}

void RunFolder::remove_model() const { remove_file(model()); }

std::string default_run_folder(const RunOptions& options) {
  return "runs/" + options.data.kind() + "-" + options.loss + "-m" + std::to_string(options.data.patches) + "-s" +
         std::to_string(options.common.seed);
}

}  // namespace fcam::apps
