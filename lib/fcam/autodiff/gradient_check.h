// One gradient checker for every operation, layer, loss and model: central differences in double precision.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fcam {

struct GradientCheckOptions {
  /// Largest error allowed, relative to the larger of expected and found, but at least to a hundredth of the largest
  /// element: smaller ones drown in the rounding of the difference.
  double tolerance = 1e-8;
  /// At a kink the derivative is a matter of choice: the only values that are right at element i, or nothing.
  std::function<std::vector<double>(std::size_t i)> legal_at_kink;
};

/// Compares `gradient` with fourth-order central differences of value() in each element of `x`, which is moved and put
/// back. Steps that straddle a kink are tried again smaller. Returns an empty text where all elements agree, else one
/// line with the name, the index of the first that does not, the value expected and the one found.
std::string check_gradient(const std::string& name, std::span<double> x, std::span<const double> gradient,
                           const std::function<double()>& value, const GradientCheckOptions& options = {});

}  // namespace fcam
