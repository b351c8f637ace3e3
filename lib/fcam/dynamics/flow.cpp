#include "fcam/dynamics/flow.h"

#include "fcam/base/named.h"
#include "fcam/dynamics/exponentials.h"

namespace fcam {
namespace {

constexpr Loss all_losses[] = {Loss::soft, Loss::hard, Loss::marginal};

// 1 - focus.
double blur(const Flow& flow, const GapState& state) {
  return flow.alpha ? 1 - *flow.alpha : share_of_others(static_cast<double>(flow.patches), state.nu);
}

// What the posterior of the position, once the label is known, leaves to the background.
double posterior_of_background(const Flow& flow, const GapState& state, double advantage) {
  if (!flow.alpha) return share_of_others(static_cast<double>(flow.patches), state.nu + advantage);
  const double others = 1 - *flow.alpha;
  return others == 0 ? 0 : others / (*flow.alpha * std::exp(advantage) + others);
}

double posterior_of_foreground(const Flow& flow, const GapState& state, double advantage) {
  if (!flow.alpha) return share(static_cast<double>(flow.patches), state.nu + advantage);
  return 1 - *flow.alpha == 0 ? 1 : 1 / (1 + (1 - *flow.alpha) / (*flow.alpha * std::exp(advantage)));
}

double marginal_value(const Flow& flow, const GapState& state) {
  const double c = static_cast<double>(flow.classes), a = flow.focus(state), others = blur(flow, state);
  const double miss = a * share_of_others(c, state.mu) + others * (c - 1) / c;  // 1 - Z
  if (miss < 0.5) return -std::log1p(-miss);
  // Where both factors of Z are too small for a double, their logarithms are not.
  const double m = static_cast<double>(flow.patches), surprise_of_focus = surprise(m, state.nu);
  const double log_focus = flow.alpha ? std::log(a) : -surprise_of_focus;
  const double log_others = flow.alpha ? std::log(others) : std::log(m - 1) - state.nu - surprise_of_focus;
  return -log_sum(log_focus - surprise(c, state.mu), log_others - std::log(c));
}

}  // namespace

std::string to_string(Loss loss) { return loss == Loss::soft ? "sa" : loss == Loss::hard ? "ha" : "lv"; }

Loss find_flow_loss(std::string_view name) {
  return find_named("loss", name, all_losses, [](Loss loss) { return to_string(loss); });
}

double Flow::focus(const GapState& state) const {
  return alpha ? *alpha : share(static_cast<double>(patches), state.nu);
}

double Flow::confidence(const GapState& state) const { return share(static_cast<double>(classes), state.mu); }

GapState Flow::rates(const GapState& state) const {
  const double c = static_cast<double>(classes), a = focus(state), others = blur(*this, state);
  GapState rates;
  if (loss == Loss::soft) {
    rates.mu = a * share_of_others(c, a * state.mu) / (c - 1);
    rates.nu = others * (c - 1) / c * (state.mu * rates.mu);
  } else if (loss == Loss::hard) {
    rates.mu = a * share_of_others(c, state.mu) / (c - 1);
    rates.nu = a * others * log_advantage(c, state.mu) / c;
  } else {
    const double advantage = log_advantage(c, state.mu);
    rates.mu = posterior_of_foreground(*this, state, advantage) * share_of_others(c, state.mu) / (c - 1);
    rates.nu = a * posterior_of_background(*this, state, advantage) * std::expm1(advantage) / c;
  }
  if (alpha) rates.nu = 0;
  return rates;
}

double Flow::value(const GapState& state) const {
  const double c = static_cast<double>(classes), a = focus(state);
  if (loss == Loss::soft) return surprise(c, a * state.mu);
  if (loss == Loss::hard) return a * surprise(c, state.mu) + blur(*this, state) * std::log(c);
  return marginal_value(*this, state);
}

void require_valid(const Flow& flow) {
  const auto require = [](bool holds, const std::string& name, const std::string& expected, const std::string& found) {
    if (!holds) throw UsageError(name + ": expected " + expected + ", found " + found);
  };
  require(flow.patches >= 1, "patches", "at least 1", std::to_string(flow.patches));
  require(flow.classes >= 2, "classes", "at least 2, for there to be a gap between them", std::to_string(flow.classes));
  if (!flow.alpha) return;
  require(*flow.alpha >= 0 && *flow.alpha <= 1, "alpha", "a number from 0 to 1", shortest(*flow.alpha));
  require(flow.patches > 1 || *flow.alpha == 1, "alpha", "1 where there is one patch", shortest(*flow.alpha));
}

}  // namespace fcam
