#include "fcam/attention/fixed_focus.h"

#include <algorithm>
#include <cmath>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam {
namespace {

double background_attention(double alpha, std::size_t m) {
  return m == 1 ? 0 : (1 - alpha) / static_cast<double>(m - 1);
}

// (B, m): one number at the foreground of each mosaic, another elsewhere.
template <class T>
Var<T> mark_foreground(Graph<T>& graph, const Batch<T>& batch, double foreground, double background) {
  const std::size_t m = batch.x.shape()[1];
  Node<T>& node = graph.tape().record({}, TensorShape{batch.size(), m}, nullptr);
  T* const values = node.own_value.data();
  std::fill_n(values, node.own_value.size(), static_cast<T>(background));
  for (std::size_t b = 0; b < batch.size(); ++b) {
    if (batch.z[b] < 0) throw UsageError("fixed focus: expected mosaics with known positions, found none");
    values[b * m + static_cast<std::size_t>(batch.z[b])] = static_cast<T>(foreground);
  }
  return Var<T>(node);
}

}  // namespace

void require_alpha(double alpha, std::size_t patches) {
  if (!(alpha >= 0 && alpha <= 1)) throw UsageError("alpha: expected a number from 0 to 1, found " + shortest(alpha));
  if (patches == 1 && alpha != 1) {
    throw UsageError("alpha: expected 1 where mosaics have one patch, found " + shortest(alpha));
  }
}

template <class T>
Var<T> fixed_attention(Graph<T>& graph, const Batch<T>& batch, double alpha) {
  const std::size_t m = batch.x.shape()[1];
  require_alpha(alpha, m);
  return mark_foreground(graph, batch, alpha, background_attention(alpha, m));
}

// Scores whose softmax it is: minus infinity where there is no attention.
template <class T>
void hold_attention(Graph<T>& graph, const Batch<T>& batch, double alpha) {
  const std::size_t m = batch.x.shape()[1];
  require_alpha(alpha, m);
  graph.hold_focus(mark_foreground(graph, batch, std::log(alpha), std::log(background_attention(alpha, m))));
}

#define FCAM_INSTANTIATE(T)                                                  \
  template Var<T> fixed_attention(Graph<T>&, const Batch<T>&, double alpha); \
  template void hold_attention(Graph<T>&, const Batch<T>&, double alpha);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
