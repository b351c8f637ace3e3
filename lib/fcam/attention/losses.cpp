#include "fcam/attention/losses.h"

#include "fcam/attention/sampled_losses.h"
#include "fcam/base/error.h"
#include "fcam/base/named.h"

namespace fcam {

const std::vector<NamedLoss>& paper_losses() {
  static const std::vector<NamedLoss> all{
      {"sa", "soft attention", Inference::soft, 0.05},
      {"ha", "hard attention", Inference::hard, 0.01},
      {"lv", "marginal likelihood", Inference::marginal, 0.05},
  };
  return all;
}

const std::vector<NamedLoss>& named_losses() {
  static const std::vector<NamedLoss> all = [] {
    std::vector<NamedLoss> losses = paper_losses();
    losses.insert(losses.end(),
                  {{"hybrid", "soft, then hard attention", Inference::hard, 0.05, Inference::hard, "ha"},
                   {"ha-sampled", "sampled hard attention", Inference::hard, 0.01, Inference::hard, "ha"},
                   {"lv-topk", "marginal likelihood of few patches", Inference::marginal, 0.05, Inference::hard, "lv"},
                   {"lv-em", "marginal likelihood by EM", Inference::marginal, 0.05, Inference::marginal, "lv"}});
    return losses;
  }();
  return all;
}

const NamedLoss& find_loss(std::string_view name, const std::vector<NamedLoss>& among) {
  return find_named("loss", name, among, [](const NamedLoss& loss) { return loss.name; });
}

template <class T>
LossFunction<T> loss_function(const NamedLoss& loss, const LossOptions& options) {
  if (loss.name == "sa") return losses::soft;
  if (loss.name == "ha") return losses::hard;
  if (loss.name == "lv-em") return losses::marginal_em;
  if (loss.name == "ha-sampled") {
    return [options](Graph<T>& graph, const Batch<T>& batch) {
      return losses::hard_sampled(graph, batch, options.samples, options.reward);
    };
  }
  if (loss.name == "lv-topk") {
    return
        [options](Graph<T>& graph, const Batch<T>& batch) { return losses::marginal_top(graph, batch, options.top); };
  }
  if (loss.name == "lv") return losses::marginal;
  throw UsageError("loss: expected one that is a function of a batch, found " + quote(loss.name));
}

template LossFunction<float> loss_function(const NamedLoss&, const LossOptions&);
template LossFunction<double> loss_function(const NamedLoss&, const LossOptions&);

}  // namespace fcam
