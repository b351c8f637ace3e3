#include "fcam/autodiff/gradient_check.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "fcam/base/text.h"

namespace fcam {
namespace {

double central_difference(double& x, double step, const std::function<double()>& value) {
  const double centre = x;
  const auto at = [&](double offset) {
    x = centre + offset * step;
    return value();
  };
  const double slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step);
  x = centre;
  return slope;
}

}  // namespace

std::string check_gradient(const std::string& name, std::span<double> x, std::span<const double> gradient,
                           const std::function<double()>& value, const GradientCheckOptions& options) {
  assert(x.size() == gradient.size());
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double found = gradient[i];
    const auto agrees = [&](double expected) {
      const double scale = std::max({std::abs(expected), std::abs(found), largest / 100});
      return std::abs(expected - found) <= options.tolerance * scale;  // false for NaN
    };
    if (options.legal_at_kink) {
      const std::vector<double> legal = options.legal_at_kink(i);
      if (std::any_of(legal.begin(), legal.end(), agrees)) continue;
      if (!legal.empty()) {
        return name + ": gradient at a kink, index " + std::to_string(i) + ": expected " + shortest(legal.front()) +
               " or another legal value, found " + shortest(found);
      }
    }
    double expected = 0;
    bool right = false;
    for (const double step : std::array{1e-3, 1e-4, 1e-5}) {
      expected = central_difference(x[i], step, value);
      right = agrees(expected);
      if (right) break;
    }
    if (!right) {
      return name + ": gradient at index " + std::to_string(i) + ": expected " + shortest(expected) + ", found " +
             shortest(found);
    }
  }
  return {};
}

}  // namespace fcam
