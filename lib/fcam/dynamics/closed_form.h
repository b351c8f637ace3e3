// Solutions in closed form of the flow with fixed focus (docs/math.md, Fixed focus).
#pragma once

#include "fcam/dynamics/flow.h"

namespace fcam {

/// Lambert's function in log form: the w > 0 with w + ln w = x, which is W(e^x) without forming e^x. Requires a finite
/// x; below -745 the result is zero, as e^x is.
double lambert_w_of_exp(double x);

/// The clock of a flow with fixed focus: an increasing function of mu, zero at zero, that grows in time at the constant
/// rate fixed_focus_clock_rate(). Scaled by e^-exponent, so that it need not overflow where mu is large.
double fixed_focus_clock(const Flow& flow, double mu, double exponent = 0);
double fixed_focus_clock_rate(const Flow& flow);

/// mu at time t of a flow with fixed focus that starts at zero. Soft and hard attention by Lambert's function, the
/// marginal likelihood by solving its implicit equation. Throws UsageError if the flow is not valid, has no fixed
/// alpha, or t is negative or not finite.
double fixed_focus_mu(const Flow& flow, double t);

}  // namespace fcam
