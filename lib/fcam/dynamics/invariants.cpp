#include "fcam/dynamics/invariants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fcam/dynamics/closed_form.h"
#include "fcam/dynamics/exponentials.h"

namespace fcam {
namespace {

constexpr double largest_exponential = 500;  // e^500 times m C^2 is far from overflow

// Integral of f over [from, to] by Gauss and Legendre's rule of eight points on so many panels.
template <class Function>
double integrate_panels(double from, double to, double panels, Function&& f) {
  constexpr std::pair<double, double> rule[] = {{0.1834346424956498, 0.3626837833783620},
                                                {0.5255324099163290, 0.3137066458778873},
                                                {0.7966664774136267, 0.2223810344533745},
                                                {0.9602898564975363, 0.1012285362903763}};
  const double half = (to - from) / panels / 2;
  double sum = 0;
  for (double panel = 0; panel < panels; ++panel) {
    const double middle = from + (2 * panel + 1) * half;
    for (const auto& [node, weight] : rule) sum += weight * (f(middle - node * half) + f(middle + node * half));
  }
  return sum * half;
}

// Hard attention's dR/dmu without its constant: ln(C share(C, u)) (e^u + C - 1), times e^-exponent.
double advantage_slope(double c, double u, double exponent) {
  return log_advantage(c, u) * (std::exp(u - exponent) + (c - 1) * std::exp(-exponent));
}

// Its integral over [from, to], in time that does not grow with the length: in the middle on panels of length 1 at
// most, outside of it the slope is linear (a single panel is exact) or ln C times the exponential, to rounding.
double integrate_advantage(double c, double from, double to, double exponent) {
  const double low = -40, high = std::log(c) + 40;
  const auto slope = [&](double u) { return advantage_slope(c, u, exponent); };
  double sum = integrate_panels(std::min(from, low), std::min(to, low), 1, slope);
  const double a = std::clamp(from, low, high), b = std::clamp(to, low, high);
  sum += integrate_panels(a, b, std::max(1.0, std::ceil(std::abs(b - a))), slope);
  const double above = std::max(from, high), end = std::max(to, high);
  return sum + std::log(c) * (std::exp(end - exponent) - std::exp(above - exponent) +
                              (c - 1) * (end - above) * std::exp(-exponent));
}

}  // namespace

Invariant::Side Invariant::between(double start, double now) {
  return {now - start, std::max(std::abs(start), std::abs(now))};
}

Invariant::Invariant(const Flow& flow, const GapState& start) : flow_(flow), start_(start), integral_end_(start.mu) {
  set_exponent(start);
}

void Invariant::set_exponent(const GapState& state) {
  // What stands in an exponential: with a fixed focus, not nu; soft attention's R is a polynomial of mu, and hard
  // attention's is one where mu is negative.
  double largest = flow_.alpha ? -std::numeric_limits<double>::infinity() : state.nu;
  if (flow_.alpha || flow_.loss == Loss::marginal) largest = std::max(largest, std::abs(state.mu));
  if (flow_.loss == Loss::hard) largest = std::max(largest, state.mu);
  const double needed = largest - largest_exponential;
  if (needed <= exponent_) return;
  integral_ *= std::exp(exponent_ - needed);
  exponent_ = needed;
}

Invariant::Side Invariant::focus_side(double nu) const {
  const double m = static_cast<double>(flow_.patches);
  const auto side = [&](double x) { return scaled_exp_beyond_linear(x, exponent_) + m * x * std::exp(-exponent_); };
  return between(side(start_.nu), side(nu));
}

Invariant::Side Invariant::confidence_side(double mu) {
  const double m = static_cast<double>(flow_.patches), c = static_cast<double>(flow_.classes);
  const double one = std::exp(-exponent_);
  if (flow_.loss == Loss::hard) {
    integral_ += integrate_advantage(c, integral_end_, mu, exponent_);
    integral_end_ = mu;
    const double change = (m - 1) / c * integral_;
    // A start far from zero cannot be told from others as near as rounding.
    const double start_slope = (m - 1) / c * advantage_slope(c, start_.mu, exponent_);
    return {change, std::max(std::abs(change), std::abs(start_slope * start_.mu))};
  }
  const auto side = [&](double u) {
    if (flow_.loss == Loss::soft) return (m - 1) / c * (c - 1) * (u * u / 2) * one;
    return (m - 1) / c * ((c - 1) / c) *
           (scaled_exp_beyond_linear(u, exponent_) + (c - 1) * scaled_exp_beyond_linear(-u, exponent_));
  };
  return between(side(start_.mu), side(mu));
}

Invariant::Side Invariant::clock_side(double mu) const {
  return between(fixed_focus_clock(flow_, start_.mu, exponent_), fixed_focus_clock(flow_, mu, exponent_));
}

double Invariant::violation(double t, const GapState& state) {
  set_exponent(state);
  const double passed = flow_.alpha ? fixed_focus_clock_rate(flow_) * t * std::exp(-exponent_) : 0;
  const Side left = flow_.alpha ? clock_side(state.mu) : focus_side(state.nu);
  const Side right = flow_.alpha ? Side{passed, passed} : confidence_side(state.mu);
  const double size = std::max(left.size, right.size);
  const double found = size == 0 ? 0 : std::abs(left.change - right.change) / size;
  largest_ = std::max(largest_, found);
  return found;
}

}  // namespace fcam
