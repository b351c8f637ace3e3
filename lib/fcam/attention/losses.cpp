#include "fcam/attention/losses.h"

#include <cassert>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam {

const std::vector<NamedLoss>& named_losses() {
  static const std::vector<NamedLoss> all{
      {"sa", "soft attention", Inference::soft, 0.05},
      {"ha", "hard attention", Inference::hard, 0.01},
      {"lv", "marginal likelihood", Inference::marginal, 0.05},
  };
  return all;
}

const NamedLoss& find_loss(std::string_view name) {
  const std::string lower = lower_case(name);
  std::vector<std::string> known;
  for (const NamedLoss& loss : named_losses()) {
    if (loss.name == lower) return loss;
    known.push_back(loss.name);
  }
  throw UsageError("loss: " + unknown_name(name, known));
}

template <class T>
LossFunction<T> loss_function(const NamedLoss& loss) {
  if (loss.name == "sa") return losses::soft;
  if (loss.name == "ha") return losses::hard;
  assert(loss.name == "lv");
  return losses::marginal;
}

template LossFunction<float> loss_function(const NamedLoss&);
template LossFunction<double> loss_function(const NamedLoss&);

}  // namespace fcam
