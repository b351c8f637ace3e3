#include "common/run_summary.h"

#include "common/csv.h"
#include "common/metrics_json.h"
#include "fcam/base/file.h"

namespace fcam::apps {
namespace {

nlohmann::ordered_json ended_by(const Trainer<float>& trainer) {
  switch (trainer.ending()) {
    case Ending::none:
      return nullptr;
    case Ending::epochs:
      return "epochs";
    case Ending::patience:
      return "patience";
    case Ending::stop_loss:
      return "stop-loss";
  }
  return nullptr;
}

}  // namespace

void Cost::add(const Epoch& epoch) {
  seconds += epoch.seconds;
  forward += static_cast<double>(epoch.train.n) * epoch.train.classify_forward;
  backward += static_cast<double>(epoch.train.n) * epoch.train.classify_backward;
}

Cost cost_of(const std::string& log, std::size_t mosaics) {
  const CsvTable table(log);
  const auto count = static_cast<double>(mosaics);
  Cost cost;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    cost.seconds += table.number(row, "seconds");
    cost.forward += count * table.number(row, "classify_forward");
    cost.backward += count * table.number(row, "classify_backward");
  }
  return cost;
}

void write_summary(const RunFolder& folder, const RunOptions& options, const Trainer<float>& trainer, const Epoch& last,
                   const Cost& cost) {
  nlohmann::ordered_json summary{{"run", folder.path},
                                 {"data", options.data.data},
                                 {"loss", options.loss},
                                 {"seed", options.common.seed},
                                 {"epochs", last.number},
                                 {"seconds", cost.seconds},
                                 {"classify_forward", cost.forward},
                                 {"classify_backward", cost.backward}};
  summary["ended_by"] = ended_by(trainer);
  const auto& best = trainer.state().best;
  summary["best_epoch"] = best.epoch > 0 ? nlohmann::ordered_json(best.epoch) : nullptr;
  summary["best_loss"] = best.epoch > 0 ? nlohmann::ordered_json(best.loss) : nullptr;
  summary["train"] = to_json(last.train);
  if (last.test) {
    summary["test"] = to_json(*last.test);
  } else {
    summary["test"] = nullptr;
  }
  write_atomically(folder.summary(), json_text(summary));
}

void settle_summary(const RunFolder& folder, const Trainer<float>& trainer) {
  auto summary = nlohmann::ordered_json::parse(read_bytes(folder.summary()), nullptr, false);
  if (!summary.is_object() || summary.value("ended_by", nlohmann::ordered_json()) == ended_by(trainer)) return;
  summary["ended_by"] = ended_by(trainer);
  write_atomically(folder.summary(), json_text(summary));
}

}  // namespace fcam::apps
