#include "fcam/dynamics/closed_form.h"

#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include "fcam/base/error.h"
#include "fcam/base/text.h"
#include "fcam/dynamics/exponentials.h"

namespace fcam {
namespace {

constexpr int most_rounds = 200;

// e^w - 1 + (C - 1) w, times e^-exponent: the clock of one class against C - 1 others.
double clock(double classes, double w, double exponent) {
  return scaled_exp_beyond_linear(w, exponent) + classes * w * std::exp(-exponent);
}

// The root in [low, high] of an increasing function, by Newton's steps from `guess` that never leave the bracket.
double increasing_root(double low, double high, double guess, const std::function<double(double)>& function,
                       const std::function<double(double)>& slope) {
  double x = guess;
  for (int round = 0; round < most_rounds; ++round) {
    const double y = function(x);
    if (y == 0) return x;
    (y < 0 ? low : high) = x;
    double next = x - y / slope(x);
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::abs(next - x) <= std::numeric_limits<double>::epsilon() * std::abs(x)) return next;
    x = next;
  }
  return x;
}

// The w with e^w - 1 + (C - 1) w = s.
double solve_clock(double classes, double s) {
  const double others = classes - 1;
  const double turns = (s + 1) / others;
  // e^w = others W(e^(turns) / others), and then w is what the linear term leaves.
  const double lambert = lambert_w_of_exp(turns - std::log(others));
  const double guess = lambert > 0 ? std::log(others * lambert) : 0;
  // For small s the logarithm above has lost digits, which one or two of Newton's steps bring back.
  return increasing_root(
      0, std::log1p(s), std::min(std::max(guess, 0.0), std::log1p(s)),
      [&](double w) { return clock(classes, w, 0) - s; }, [&](double w) { return std::exp(w) + others; });
}

}  // namespace

double lambert_w_of_exp(double x) {
  assert(std::isfinite(x));
  if (x < -745) return 0;
  // w + ln w = x: below zero w is nearly e^x, far above it nearly x - ln x.
  double w = x < 1 ? std::exp(x) / (1 + std::exp(std::min(x, 0.0))) : x - std::log(x);
  if (x < -36) return std::exp(x);
  for (int round = 0; round < most_rounds; ++round) {
    // Newton's step on w e^w = e^x in log form, which converges from either side.
    const double next = w * ((1 + x - std::log(w)) / (1 + w));
    if (std::abs(next - w) <= std::numeric_limits<double>::epsilon() * next) return next;
    w = next;
  }
  return w;
}

double fixed_focus_clock(const Flow& flow, double mu, double exponent) {
  const double c = static_cast<double>(flow.classes), a = *flow.alpha;
  if (flow.loss == Loss::soft) return clock(c, a * mu, exponent);
  if (flow.loss == Loss::hard) return clock(c, mu, exponent);
  // e^mu - 1 + (C-1) mu, and (C-1) mu + (C-1)^2 (1 - e^-mu) for the patches that are not looked at.
  const double blur = (1 - a) / c;
  const double last =
      c * (c - 1) * mu * std::exp(-exponent) - (c - 1) * (c - 1) * scaled_exp_beyond_linear(-mu, exponent);
  return (a + blur) * clock(c, mu, exponent) + (blur > 0 ? blur * last : 0);
}

double fixed_focus_clock_rate(const Flow& flow) {
  return flow.loss == Loss::soft ? *flow.alpha * *flow.alpha : *flow.alpha;
}

double fixed_focus_mu(const Flow& flow, double t) {
  require_valid(flow);
  if (!flow.alpha) throw UsageError("alpha: expected a fixed one, found none");
  if (!(t >= 0) || !std::isfinite(t)) throw UsageError("time: expected a number from 0 up, found " + shortest(t));
  const double c = static_cast<double>(flow.classes), a = *flow.alpha;
  const double passed = fixed_focus_clock_rate(flow) * t;
  if (flow.loss == Loss::soft) {
    // At small alpha mu = w / alpha, and w follows alpha^2 t, which may be too small for a double.
    return passed < std::numeric_limits<double>::min() ? a * t / c : solve_clock(c, passed) / a;
  }
  if (passed == 0) return 0;
  if (flow.loss == Loss::hard) return solve_clock(c, passed);
  const double blur = (1 - a) / c;
  const double high = solve_clock(c, passed / (a + blur));  // the clock runs at least as fast as its first part
  return increasing_root(
      0, high, high, [&](double mu) { return fixed_focus_clock(flow, mu) - passed; },
      [&](double mu) { return (a + blur) * (std::exp(mu) + c - 1) + blur * (c - 1) * (1 + (c - 1) * std::exp(-mu)); });
}

}  // namespace fcam
