// Functions of exponentials that the gradient flow is made of, written so that nothing overflows or cancels.
#pragma once

#include <algorithm>
#include <cmath>

namespace fcam {

/// Softmax of one score that stands `gap` above n - 1 others, which are equal: e^gap / (e^gap + n - 1).
inline double share(double n, double gap) { return n == 1 ? 1 : 1 / (1 + (n - 1) * std::exp(-gap)); }

/// 1 - share(n, gap), what is left to the others together.
inline double share_of_others(double n, double gap) {
  if (n == 1) return 0;
  if (gap <= 0) return (n - 1) / (std::exp(gap) + (n - 1));
  const double odds = (n - 1) * std::exp(-gap);
  return odds / (1 + odds);
}

/// -ln share(n, gap).
inline double surprise(double n, double gap) {
  if (n == 1) return 0;
  return gap > 0 ? std::log1p((n - 1) * std::exp(-gap)) : std::log(std::exp(gap) + (n - 1)) - gap;
}

/// ln(n share(n, gap)): how far the score is ahead of an equal share, zero with the gap.
inline double log_advantage(double n, double gap) {
  return gap > std::log(n) ? std::log(n) - std::log1p((n - 1) * std::exp(-gap)) : gap - std::log1p(std::expm1(gap) / n);
}

/// ln(e^a + e^b). Either may be -inf, not both.
inline double log_sum(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

/// e^u - 1 - u, to full relative precision near zero.
inline double exp_beyond_linear(double u) {
  if (std::abs(u) > 0.5) return std::expm1(u) - u;
  double term = u * u / 2, sum = 0;
  for (int k = 3; sum + term != sum; ++k) {
    sum += term;
    term *= u / k;
  }
  return sum;
}

/// The same times e^-exponent, for a u too large for e^u.
inline double scaled_exp_beyond_linear(double u, double exponent) {
  if (exponent == 0 || std::abs(u) <= 0.5) return exp_beyond_linear(u) * std::exp(-exponent);
  return std::exp(u - exponent) - (1 + u) * std::exp(-exponent);
}

}  // namespace fcam
