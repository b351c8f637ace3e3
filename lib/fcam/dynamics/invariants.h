// What stays the same along a flow, as a check of a numerical solution (docs/math.md, Invariants).
#pragma once

#include "fcam/dynamics/flow.h"

namespace fcam {

/// Watches a path of one flow. With free focus, mu and nu determine each other: L(nu) - L(nu_0) = R(mu) - R(mu_0). With
/// fixed focus, mu and the time do: the clock of closed_form.h advances at a constant rate. The violation is the
/// difference of the two sides, relative to the largest number in the equation.
class Invariant {
 public:
  /// Requires a valid flow and a finite start.
  Invariant(const Flow& flow, const GapState& start);

  /// The violation at a state, `t` after the start. Hard attention's R is an integral that is carried on from the
  /// state of the call before, so that states near each other take little time.
  double violation(double t, const GapState& state);
  /// The largest violation so far.
  double largest() const { return largest_; }

 private:
  // How far one side of the equation has changed since the start, and how large the numbers are that it is made of.
  struct Side {
    double change, size;
  };
  static Side between(double start, double now);
  Side focus_side(double nu) const;
  Side confidence_side(double mu);
  Side clock_side(double mu) const;
  void set_exponent(const GapState& state);

  Flow flow_;
  GapState start_;
  double exponent_ = 0;  // all sides are scaled by e^-exponent
  double integral_ = 0, integral_end_;
  double largest_ = 0;
};

}  // namespace fcam
