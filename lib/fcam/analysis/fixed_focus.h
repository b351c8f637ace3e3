// What a classifier g makes of attention that is held at alpha: the loss, and the incentive to focus more
// (docs/math.md, fixed focus).
#pragma once

#include "fcam/analysis/shards.h"
#include "fcam/attention/fixed_focus.h"

namespace fcam {

/// Means over a set of mosaics, g as it is.
struct FixedFocus {
  double loss = 0;        ///< L(alpha)
  double difference = 0;  ///< the paper's incentive, L(alpha) - L(min(alpha + step, 1)): 0 at alpha = 1 by construction
  double derivative = 0;  ///< -dL/dalpha, exact, from the left at alpha = 1; 0 where mosaics have one patch
};

struct FixedFocusOptions {
  double alpha = 0.2;
  double step = 0.01;       ///< in (0, 1]
  std::size_t batch = 256;  ///< mosaics at a time; the numbers do not depend on it beyond rounding
};

/// Loss and incentive of a named loss on all mosaics. In hard attention and marginal likelihood one pass of g serves
/// all three numbers; soft attention takes one at each of two blends, and the gradient of g in the first. The numbers
/// are the same bits for every number of workers. Throws UsageError as require_alpha does, where positions are not
/// known, or where model and mosaics do not fit; DivergedError where a number is not finite.
template <class T>
FixedFocus measure_fixed_focus(const Model<T>& model, const Mosaics& mosaics, const NamedLoss& loss,
                               const FixedFocusOptions& options, Workers& workers);

}  // namespace fcam
