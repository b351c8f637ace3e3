#include "fcam/analysis/observation.h"

#include <cmath>

namespace fcam {

Observation at_most(std::string id, std::string statement, std::string measure, double threshold, Measured measured) {
  return {.id = std::move(id),
          .statement = std::move(statement),
          .measure = std::move(measure),
          .threshold = threshold,
          .measured = measured.value,
          .missing = std::move(measured.missing)};
}

Observation above(std::string id, std::string statement, std::string measure, double threshold, Measured measured) {
  Observation result = at_most(std::move(id), std::move(statement), std::move(measure), threshold, std::move(measured));
  result.above = true;
  return result;
}

Observation not_in_percent(Observation observation) {
  observation.percent = false;
  return observation;
}

Verdict Observation::verdict() const {
  if (std::isnan(measured)) return Verdict::not_judged;
  const bool holds = above ? measured > threshold : measured <= threshold;
  return holds ? Verdict::holds : Verdict::fails;
}

Spread spread_of(const std::vector<double>& values) {
  Spread result{.n = values.size()};
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  result.mean = 0;
  for (const double value : values) result.mean += value / n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (n - 1));
  return result;
}

}  // namespace fcam
