#include "fcam/attention/loss_check.h"

namespace fcam {

std::string check_loss_gradient(const std::string& name, const LossFunction<double>& loss, Model<double>& model,
                                const Batch<double>& batch, const GradientCheckOptions& options) {
  Graph<double> graph(model);
  ModelGradient<double> gradient(model);
  // Twice, with NaN left in every buffer in between: what is not written anew shows.
  for (int pass = 0; pass < 2; ++pass) {
    gradient.clear();
    graph.clear(&gradient);
    graph.backward(loss(graph, batch));
    graph.clear();
    graph.tape().poison();
  }
  const auto value = [&] {
    graph.clear();
    return loss(graph, batch).scalar();
  };
  std::string error = check_gradient(name + ", focus", model.focus.weights(), gradient.focus, value, options);
  if (error.empty()) {
    error = check_gradient(name + ", classify", model.classify.weights(), gradient.classify, value, options);
  }
  return error;
}

}  // namespace fcam
