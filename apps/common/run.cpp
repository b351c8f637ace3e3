#include "common/run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "fcam/base/error.h"
#include "fcam/base/file.h"

namespace fcam::apps {
namespace {

std::array<std::string, 5> files_of(const RunFolder& folder) {
  return {folder.config(), folder.log(), folder.checkpoint(), folder.model(), folder.summary()};
}

void remove(const std::string& file) {
  std::error_code error;
  std::filesystem::remove(file, error);
  if (error) throw WriteError(quote(file) + ": expected to remove it, found: " + error.message());
}

}  // namespace

RunOptions::RunOptions()
    : learning_rate(std::numeric_limits<double>::quiet_NaN()), stop_loss(std::numeric_limits<double>::quiet_NaN()) {}

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
  line.count("patience", options.patience, 0, unbounded,
             "stop after so many tests in a row without a lower loss, and keep the best weights; 0: never");
  line.number("stop-loss", options.stop_loss, 0, infinity,
              "stop after an epoch with at most this train loss (default: never)");
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
          .patience = options.patience,
          .stop_loss = std::isnan(options.stop_loss) ? -std::numeric_limits<double>::infinity() : options.stop_loss,
          .threads = static_cast<int>(options.common.threads)};
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool RunFolder::holds_run() const {
  const auto files = files_of(*this);
  return std::any_of(files.begin(), files.end(), is_there);
}

void RunFolder::create() const {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    throw WriteError(quote(path) + ": expected to make a folder of that name, found: " +
                     (error ? error.message() : "something else of that name"));
  }
}

void RunFolder::check_writable() const {
  for (const auto& file : files_of(*this)) require_writable(file);
}

void RunFolder::clear() const {
  for (const auto& file : files_of(*this)) remove(file);
}

void RunFolder::remove_model() const { remove(model()); }

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::take(const RunFolder& folder) {
  descriptor_ = ::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Where the file system has no locks there is none.
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UsageError("out: expected a folder that no other program works in, found one at work in " +
                     quote(folder.path));
  }
}

std::string default_run_folder(const RunOptions& options) {
  return "runs/" + options.data.kind() + "-" + options.loss + "-m" + std::to_string(options.data.patches) + "-s" +
         std::to_string(options.common.seed);
}

}  // namespace fcam::apps
