// What a trained model says of a mosaic: where it looks and which class it sees, by one of three rules.
#pragma once

#include <string>
#include <string_view>

#include "fcam/attention/model.h"

namespace fcam {

enum class Inference {
  soft,      ///< s = softmax g(sum_j a_j x_j)
  hard,      ///< s = softmax g(x_j*), j* = argmax_j f(x_j), the first of equals
  marginal,  ///< s = sum_j a_j softmax g(x_j)
};

/// "sa", "ha", "lv": the rule that goes with the loss of that name.
std::string to_string(Inference rule);
/// The rule of that name, in any case. Throws UsageError with the names that exist.
Inference find_inference(std::string_view name);

template <class T>
struct Outcome {
  Tensor<T> a;  ///< (B, m) attention, softmax f(x_1..m)
  Tensor<T> s;  ///< (B, C) scores of the classes
};

/// Attention and scores of a batch. What `graph` has already recorded for this batch (by a loss) is not computed again.
template <class T>
void infer(Graph<T>& graph, const Batch<T>& batch, Inference rule, Outcome<T>& outcome);

}  // namespace fcam
