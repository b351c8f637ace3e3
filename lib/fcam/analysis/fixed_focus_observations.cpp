#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "fcam/analysis/observations.h"
#include "fcam/base/text.h"

namespace fcam {
namespace {

// Losses, of the loss at the start.
constexpr double gone = 0.05;           // a loss up to it has "gone to zero"
constexpr double flat_end = 0.05;       // fall over the last fifth of the epochs of a curve that is "flat" there
constexpr double little_spread = 0.25;  // spread of SA over alpha against the smaller of HA's and LV's
constexpr double flat_whole = 0.25;     // fall over all epochs of a curve that "is flat"
constexpr double small_alpha = 0.2, large_alpha = 0.6, vanishing_alpha = 0.4;
// Incentives.
constexpr double wrong_step = 0.05;      // step in the wrong direction, of the loss's largest incentive
constexpr double against_lv = 0.25;      // SA's at alpha 1 that is "near zero", of LV's there
constexpr double away_from_zero = 0.2;   // nats per unit of alpha
constexpr double small_for_long = 0.25;  // of the loss's largest incentive, over the first half of the epochs

// Several numbers, one for each of some curves, or what is missing for them.
struct Numbers {
  std::vector<double> values;
  std::string missing = {};
};

using CurveNumber = std::function<double(const FixedFocusCurve&)>;

bool below_one(double alpha) { return alpha < 1; }

// Of the curves of a loss whose alpha is `wanted`, alpha ascending.
std::vector<const FixedFocusCurve*> curves_of(const std::vector<FixedFocusCurve>& curves, const std::string& loss,
                                              const std::function<bool(double)>& wanted) {
  std::vector<const FixedFocusCurve*> result;
  for (const FixedFocusCurve& curve : curves) {
    if (curve.loss == loss && wanted(curve.alpha) && curve.epochs.size() >= 2) result.push_back(&curve);
  }
  std::sort(result.begin(), result.end(), [](const auto* a, const auto* b) { return a->alpha < b->alpha; });
  return result;
}

Numbers numbers_of(const std::vector<FixedFocusCurve>& curves, const std::string& loss,
                   const std::function<bool(double)>& wanted, const std::string& wanted_name, const CurveNumber& number,
                   std::size_t least = 1) {
  Numbers result;
  for (const FixedFocusCurve* curve : curves_of(curves, loss, wanted)) result.values.push_back(number(*curve));
  if (result.values.size() < least) {
    result.missing = (least > 1 ? std::to_string(least) + " curves of " : "curves of ") + loss + wanted_name;
  }
  return result;
}

Measured largest(const Numbers& numbers) {
  if (!numbers.missing.empty()) return missing(numbers.missing);
  return {*std::max_element(numbers.values.begin(), numbers.values.end())};
}

Measured smallest(const Numbers& numbers) {
  if (!numbers.missing.empty()) return missing(numbers.missing);
  return {*std::min_element(numbers.values.begin(), numbers.values.end())};
}

Numbers both(Numbers a, const Numbers& b) {
  if (a.missing.empty()) a.missing = b.missing;
  a.values.insert(a.values.end(), b.values.begin(), b.values.end());
  return a;
}

// Of each alpha that all the losses have: what `number` makes of their curves.
Numbers at_common_alphas(const std::vector<FixedFocusCurve>& curves, const std::vector<std::string>& losses,
                         const std::function<double(const std::vector<const FixedFocusCurve*>&)>& number) {
  Numbers result;
  for (const FixedFocusCurve* first : curves_of(curves, losses[0], below_one)) {
    std::vector<const FixedFocusCurve*> same{first};
    for (std::size_t i = 1; i < losses.size(); ++i) {
      const auto found = curves_of(curves, losses[i], [&](double alpha) { return alpha == first->alpha; });
      if (!found.empty()) same.push_back(found[0]);
    }
    if (same.size() == losses.size()) result.values.push_back(number(same));
  }
  if (result.values.empty()) {
    for (const std::string& loss : losses) result.missing += (result.missing.empty() ? "" : " and ") + loss;
    result.missing = "curves of " + result.missing + " at one alpha below 1";
  }
  return result;
}

double start_of(const FixedFocusCurve& curve) { return curve.epochs.front().loss; }
double end_share(const FixedFocusCurve& curve) { return curve.epochs.back().loss / start_of(curve); }
double fall_share(const FixedFocusCurve& curve) { return 1 - end_share(curve); }

double first_fall_share(const FixedFocusCurve& curve) {
  const std::size_t epochs = curve.epochs.size() - 1;
  return 1 - curve.epochs[std::max<std::size_t>(1, epochs / 20)].loss / start_of(curve);
}

double last_fall_share(const FixedFocusCurve& curve) {
  const std::size_t epochs = curve.epochs.size() - 1;
  const std::size_t fifth = std::max<std::size_t>(1, epochs / 5);
  return (curve.epochs[epochs - fifth].loss - curve.epochs[epochs].loss) / start_of(curve);
}

// Distance of the outermost curves with large alpha at the end.
Measured spread_over_alphas(const std::vector<FixedFocusCurve>& curves, const std::string& loss) {
  const Numbers ends = numbers_of(
      curves, loss, [](double alpha) { return alpha >= large_alpha; },
      " at alpha from " + shortest(large_alpha) + " up", end_share, 2);
  if (!ends.missing.empty()) return missing(ends.missing);
  return {largest(ends).value - smallest(ends).value};
}

Measured spread_of_soft_against_others(const std::vector<FixedFocusCurve>& curves) {
  const Measured soft = spread_over_alphas(curves, "sa"), hard = spread_over_alphas(curves, "ha"),
                 marginal = spread_over_alphas(curves, "lv");
  for (const Measured& one : {soft, hard, marginal}) {
    if (!one.missing.empty()) return one;
  }
  return {soft.value / std::min(hard.value, marginal.value)};
}

// Mean incentive over a part of the epochs after the start.
double mean_incentive(const FixedFocusCurve& curve, bool late) {
  const std::size_t last = curve.epochs.size() - 1, half = (last + 1) / 2;
  const std::size_t begin = late ? last - half + 1 : 1, end = late ? last + 1 : half + 1;
  double sum = 0;
  for (std::size_t epoch = begin; epoch < end; ++epoch) sum += curve.epochs[epoch].derivative;
  return sum / static_cast<double>(end - begin);
}

double late_incentive(const FixedFocusCurve& curve) { return mean_incentive(curve, true); }

Numbers late_incentives(const std::vector<FixedFocusCurve>& curves, const std::string& loss) {
  return numbers_of(
      curves, loss, [](double) { return true; }, " at different alpha", late_incentive, 2);
}

// The largest step in the wrong direction between neighbouring alphas, of the largest incentive; 0 where there is none.
Measured wrong_direction(const std::vector<FixedFocusCurve>& curves, const std::string& loss, bool should_fall) {
  const Numbers late = late_incentives(curves, loss);
  if (!late.missing.empty()) return missing(late.missing);
  double worst = 0;
  for (std::size_t i = 1; i < late.values.size(); ++i) {
    const double rise = late.values[i] - late.values[i - 1];
    worst = std::max(worst, should_fall ? rise : -rise);
  }
  return {worst / largest(late).value};
}

Measured early_against_largest(const std::vector<FixedFocusCurve>& curves, const std::string& loss) {
  const Numbers late = late_incentives(curves, loss);
  if (!late.missing.empty()) return missing(late.missing);
  const auto wanted = curves_of(curves, loss, [](double alpha) { return alpha <= small_alpha; });
  if (wanted.empty()) return missing("a curve of " + loss + " at alpha up to " + shortest(small_alpha));
  return {mean_incentive(*wanted.front(), false) / largest(late).value};
}

}  // namespace

std::vector<Observation> judge_fixed_focus_losses(const std::vector<FixedFocusCurve>& curves) {
  const std::string below_1 = " at alpha below 1";
  const Numbers soft_ends = numbers_of(
      curves, "sa", [](double alpha) { return alpha >= vanishing_alpha; },
      " at alpha from " + shortest(vanishing_alpha) + " up", end_share);
  const auto hard_and_marginal = [&](const CurveNumber& number) {
    return both(numbers_of(curves, "ha", below_one, below_1, number),
                numbers_of(curves, "lv", below_one, below_1, number));
  };
  const Numbers lead = at_common_alphas(curves, {"lv", "sa", "ha"}, [](const auto& same) {
    return first_fall_share(*same[0]) - std::max(first_fall_share(*same[1]), first_fall_share(*same[2]));
  });
  const Numbers end_lead = at_common_alphas(curves, {"lv", "ha"},
                                            [](const auto& same) { return end_share(*same[1]) - end_share(*same[0]); });
  const auto small = curves_of(curves, "ha", [](double alpha) { return alpha <= small_alpha; });
  const Measured whole_fall = small.empty() ? missing("a curve of ha at alpha up to " + shortest(small_alpha))
                                            : Measured{fall_share(*small.front())};
  return {
      at_most("2a", "SA goes to zero for alpha from 0.4 up",
              "largest loss of SA at the end, alpha >= 0.4, of the start", gone, largest(soft_ends)),
      above("2b", "HA and LV end above zero for alpha < 1",
            "smallest loss of HA and LV at the end, alpha < 1, of the start", gone,
            smallest(hard_and_marginal(end_share))),
      at_most("2b", "HA and LV flatten for alpha < 1",
              "largest fall of HA and LV in the last fifth of the epochs, alpha < 1, of the start", flat_end,
              largest(hard_and_marginal(last_fall_share))),
      above("2c", "LV falls fastest at the start",
            "fall of LV in the first twentieth of the epochs less the larger of SA and HA, of the start, at the "
            "alpha < 1 where it is least",
            0, smallest(lead)),
      above("2c", "LV ends below HA", "loss of HA less LV at the end, of the start, at the alpha < 1 where it is least",
            0, smallest(end_lead)),
      at_most("2d", "at large alpha curves differ little for SA, much for HA and LV",
              "distance between the curves of alpha >= 0.6 at the end: SA against the smaller of HA and LV",
              little_spread, spread_of_soft_against_others(curves)),
      at_most("2e", "HA is flat at small alpha", "fall of HA over all epochs at the smallest alpha, of the start",
              flat_whole, whole_fall),
  };
}

std::vector<Observation> judge_incentives(const std::vector<FixedFocusCurve>& curves) {
  const auto all_focus = [&](const char* loss) {
    return largest(numbers_of(
        curves, loss, [](double alpha) { return alpha == 1; }, " at alpha 1", late_incentive));
  };
  const Measured soft_end = all_focus("sa"), marginal_end = all_focus("lv");
  const std::string end_missing = soft_end.missing.empty() ? marginal_end.missing : soft_end.missing;
  return {
      at_most("3a", "SA's incentive diminishes with alpha",
              "largest rise from one alpha to the next in the second half, of the largest incentive of SA", wrong_step,
              wrong_direction(curves, "sa", true)),
      at_most("3a", "SA's incentive is near zero at alpha 1", "incentive at alpha 1 in the second half: SA against LV",
              against_lv, {soft_end.value / marginal_end.value, end_missing}),
      at_most("3b", "HA's incentive grows with alpha",
              "largest drop from one alpha to the next in the second half, of the largest incentive of HA", wrong_step,
              wrong_direction(curves, "ha", false)),
      at_most("3b", "HA's incentive stays small for long at small alpha",
              "incentive of HA at the smallest alpha in the first half, of the largest in the second", small_for_long,
              early_against_largest(curves, "ha")),
      at_most("3c", "LV's incentive diminishes with alpha",
              "largest rise from one alpha to the next in the second half, of the largest incentive of LV", wrong_step,
              wrong_direction(curves, "lv", true)),
      not_in_percent(above("3c", "LV's incentive stays away from zero",
                           "smallest incentive of LV over alpha in the second half, nats", away_from_zero,
                           smallest(late_incentives(curves, "lv")))),
  };
}

}  // namespace fcam
