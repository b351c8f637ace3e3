#include "common/run.h"

#include <cmath>
#include <limits>

#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"

namespace fcam::apps {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// The options of single losses: which of them have a use for each.
void require_use(const RunOptions& options) {
  const RunOptions usual;
  const bool hybrid = options.loss == "hybrid", sampled_then = options.then != usual.then;
  const bool sampled = options.loss == "ha-sampled" || (hybrid && sampled_then);
  const auto require = [&](const char* name, bool given, bool used, const std::string& losses) {
    if (given && !used) {
      throw UsageError(std::string(name) + ": expected it with --loss " + losses + ", found it with " +
                       quote(options.loss) + (hybrid ? ", which goes on with " + quote(options.then) : ""));
    }
  };
  if (hybrid && (options.patience > 0 || !std::isnan(options.stop_loss))) {
    throw UsageError(std::string(options.patience > 0 ? "patience" : "stop-loss") +
                     ": expected none with --loss hybrid, whose losses cannot be compared");
  }
  require("samples", options.samples != usual.samples, sampled, "ha-sampled, or hybrid --then ha-sampled");
  require("reward", options.reward != usual.reward, sampled, "ha-sampled, or hybrid --then ha-sampled");
  require("top", options.top != usual.top, options.loss == "lv-topk", "lv-topk");
  require("switch-epoch", options.switch_epoch != usual.switch_epoch, hybrid, "hybrid");
  require("blend", options.blend != usual.blend, hybrid, "hybrid");
  require("then", sampled_then, hybrid, "hybrid");
  require("then-lr", !std::isnan(options.then_learning_rate), hybrid, "hybrid");
}

}  // namespace

RunOptions::RunOptions() : learning_rate(none), stop_loss(none), then_learning_rate(none) {}

void declare(CommandLine& line, RunOptions& options, bool trained) {
  constexpr auto unbounded = std::numeric_limits<std::size_t>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::string> losses;
  for (const NamedLoss& loss : named_losses()) losses.push_back(loss.name);
  line.group(trained ? "Model" : "Training");
  line.choice("loss", options.loss, losses,
              "soft attention, hard attention, latent variable marginal likelihood; soft, then hard; their relatives "
              "that call the classification network on few patches; marginal likelihood by EM");
  if (trained) line.group("");
  line.count("epochs", options.epochs, 1, unbounded, "times that every mosaic is seen");
  line.count("batch", options.batch, 1, unbounded, "mosaics a step");
  line.number("lr", options.learning_rate, 0, infinity,
              "learning rate (default: 0.05, that of hybrid's first phase; ha and ha-sampled 0.01)");
  line.choice("lr-schedule", options.schedule, {"constant", "step", "cosine"},
              "how it changes: a tenth after half of the epochs and again after three quarters; half a cosine to zero");
  line.number("momentum", options.momentum, 0, 1, "of sgd, below 1");
  line.choice("optimizer", options.optimizer, {"sgd", "adam"}, "update rule");
  line.number("weight-decay", options.weight_decay, 0, infinity, "of sgd as PyTorch's, of adam as AdamW's");
  line.list("augment", options.augmentation,
            "change training images: flip (left and right), crop (shift by up to an eighth)");
  line.count("eval-every", options.eval_every, 0, unbounded,
             "epochs between evaluations on the test mosaics; 0: never");
  line.count("patience", options.patience, 0, unbounded,
             "stop after so many tests in a row without a lower loss, and keep the best weights; 0: never");
  line.number("stop-loss", options.stop_loss, 0, infinity,
              "stop after an epoch with at most this train loss (default: never)");
  line.text("init", options.init, "weights to start from, safetensors (default: drawn from the seed)", "FILE");
  line.group(trained ? "" : "Losses with choices");
  line.count("samples", options.samples, 1, 1'000'000, "ha-sampled: patches drawn a mosaic");
  line.choice("reward", options.reward, {"log", "prob"},
              "ha-sampled: what the focus is rewarded for, log p_y (as ha) or p_y of the drawn patch");
  line.count("top", options.top, 1, 1'000'000, "lv-topk: best-focused patches seen beside a drawn one");
  line.text("switch-epoch", options.switch_epoch,
            "hybrid: epochs of soft attention; auto: until the focus gains no more by it", "N|auto");
  line.choice("then", options.then, {"ha", "ha-sampled"}, "hybrid: the loss that it goes on with");
  line.number("then-lr", options.then_learning_rate, 0, infinity, "hybrid: its learning rate (default: 0.01)");
  line.count("blend", options.blend, 0, unbounded, "hybrid: epochs between them that mix the two");
  declare(line, options.data);
  declare(line, options.networks);
  declare(line, options.common);
}

TrainerOptions trainer_options(const RunOptions& options) {
  const NamedLoss& loss = find_loss(options.loss);
  return {.epochs = options.epochs,
          .batch = options.batch,
          .learning_rate = std::isnan(options.learning_rate) ? loss.learning_rate : options.learning_rate,
          .schedule = options.schedule == "step"     ? Schedule::step
                      : options.schedule == "cosine" ? Schedule::cosine
                                                     : Schedule::constant,
          .momentum = options.momentum,
          .weight_decay = options.weight_decay,
          .optimizer = options.optimizer == "adam" ? OptimizerOptions::Kind::adam : OptimizerOptions::Kind::sgd,
          .inference = loss.inference,
          .seed = options.common.seed,
          .augmentation = parse_augmentation(options.augmentation),
          .eval_every = options.eval_every,
          .patience = options.patience,
          .stop_loss = std::isnan(options.stop_loss) ? -std::numeric_limits<double>::infinity() : options.stop_loss,
          .threads = static_cast<int>(options.common.threads)};
}

PlanOptions plan_options(const RunOptions& options) {
  PlanOptions plan{.loss = {.samples = options.samples,
                            .top = options.top,
                            .reward = options.reward == "prob" ? Reward::probability : Reward::log_probability},
                   .learning_rate = options.learning_rate,
                   .blend = options.blend,
                   .sampled = options.then == "ha-sampled",
                   .then_learning_rate = options.then_learning_rate};
  if (options.switch_epoch != "auto") {
    std::uint64_t epoch = 0;
    if (!parse_count(options.switch_epoch, epoch)) {
      throw UsageError("switch-epoch: expected a whole number or auto, found " + quote(options.switch_epoch));
    }
    plan.switch_epoch = epoch;
  }
  return plan;
}

Plan<float> training_plan(const RunOptions& options) {
  require_use(options);
  return named_plan<float>(find_loss(options.loss), plan_options(options));
}

std::string method_of(const RunOptions& options) {
  const std::string draws = std::to_string(options.samples) + (options.reward == "prob" ? " prob" : "");
  if (options.loss == "ha-sampled") return options.loss + " " + draws;
  if (options.loss == "lv-topk") return options.loss + " " + std::to_string(options.top);
  if (options.loss != "hybrid") return options.loss;
  return options.loss + (options.switch_epoch == "auto" ? "" : " " + options.switch_epoch) +
         (options.blend > 0 ? " blend " + std::to_string(options.blend) : "") +
         (options.then == "ha-sampled" ? " sampled " + draws : "");
}

RunFolder::RunFolder(const std::string& folder)
    : OutputFolder{folder, {"config.toml", "log.csv", "checkpoint.safetensors", "model.safetensors", "summary.json"}} {}

void RunFolder::remove_model() const { remove_file(model()); }

std::string default_run_folder(const RunOptions& options) {
  return "runs/" + options.data.kind() + "-" + options.loss + "-m" + std::to_string(options.data.patches) + "-s" +
         std::to_string(options.common.seed);
}

}  // namespace fcam::apps
