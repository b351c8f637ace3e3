// Gradient flow on the population loss of the linear orthogonal setting, as two equations (docs/math.md, The linear
// orthogonal setting).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fcam {

/// The three losses whose flow is known.
enum class Loss { soft, hard, marginal };

/// "sa", "ha" or "lv".
std::string to_string(Loss loss);

/// The loss of that name, in any case. Throws UsageError with the names that exist.
Loss find_flow_loss(std::string_view name);

/// Where the two networks are; also a rate of change of it.
struct GapState {
  double mu = 0;  ///< by how much g's logit of the true class exceeds the others at the foreground patch
  double nu = 0;  ///< by how much f's score of the foreground patch exceeds those of the background
};

/// The flow of one loss for m patches and C classes. All members take any finite gaps and return finite numbers; what
/// is too small for a double becomes zero.
struct Flow {
  Loss loss = Loss::soft;
  std::size_t patches = 20;          ///< m
  std::size_t classes = 20;          ///< C
  std::optional<double> alpha = {};  ///< attention on the foreground where it is held fixed; nu then stays

  /// Attention on the foreground: alpha, or e^nu / (e^nu + m - 1).
  double focus(const GapState& state) const;
  /// Probability that g gives to the true class at the foreground patch: beta = e^mu / (e^mu + C - 1).
  double confidence(const GapState& state) const;
  /// (mu', nu').
  GapState rates(const GapState& state) const;
  /// The population loss.
  double value(const GapState& state) const;
};

/// Throws UsageError unless there are at least 1 patch and 2 classes, and a fixed alpha is in [0, 1], and 1 where there
/// is one patch.
void require_valid(const Flow& flow);

}  // namespace fcam
