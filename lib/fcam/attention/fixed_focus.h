// Attention that is held instead of learnt: alpha on the true foreground, the rest shared evenly by the other patches
// (docs/math.md, fixed focus). A loss trains g alone then.
#pragma once

#include <utility>

#include "fcam/attention/losses.h"

namespace fcam {

/// Throws UsageError unless alpha is in [0, 1], and 1 where mosaics have one patch.
void require_alpha(double alpha, std::size_t patches);

/// The attention: alpha at z, (1 - alpha) / (m - 1) elsewhere, (B, m). A constant, whose gradient can be asked for by
/// setting node().needs_gradient. Throws UsageError as require_alpha does, and where a position z is not known.
template <class T>
Var<T> fixed_attention(Graph<T>& graph, const Batch<T>& batch, double alpha);

/// Makes it the attention of the record, whatever f says. Throws as fixed_attention does.
template <class T>
void hold_attention(Graph<T>& graph, const Batch<T>& batch, double alpha);

/// `loss` with the attention held. f is not computed and gets no gradient.
template <class T>
LossFunction<T> with_fixed_focus(LossFunction<T> loss, double alpha) {
  return [loss = std::move(loss), alpha](Graph<T>& graph, const Batch<T>& batch) {
    hold_attention(graph, batch, alpha);
    return loss(graph, batch);
  };
}

}  // namespace fcam
