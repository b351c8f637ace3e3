// Paths of a flow in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/dynamics/flow.h"

namespace fcam {

/// One point of a path.
struct FlowSample {
  double t = 0, mu = 0, nu = 0;
  double alpha = 0;  ///< attention on the foreground
  double beta = 0;   ///< probability of the true class at the foreground patch
  double value = 0;  ///< of the loss
};

/// A path at the times that were asked for.
struct Trajectory {
  std::vector<FlowSample> samples;
  std::uint64_t steps = 0;     ///< taken
  std::uint64_t rejected = 0;  ///< tried, found too coarse, and taken back
  double violation = 0;        ///< largest one of the invariant (invariants.h) over the samples

  std::vector<FlowSample>::const_iterator begin() const { return samples.begin(); }
  std::vector<FlowSample>::const_iterator end() const { return samples.end(); }
  std::size_t size() const { return samples.size(); }
  const FlowSample& operator[](std::size_t i) const { return samples[i]; }
};

/// A path that did not reach its end: what there is of it, and the time where it stopped.
class UnfinishedError : public DivergedError {
 public:
  UnfinishedError(const std::string& message, Trajectory path, double time)
      : DivergedError(message), path_(std::move(path)), time_(time) {}
  const Trajectory& path() const { return path_; }
  double time() const { return time_; }

 private:
  Trajectory path_;
  double time_;
};

/// `count` times from `first` to `last`, both included, at equal distances or ratios; one is the last alone. Throws
/// UsageError unless count >= 1 and 0 <= first <= last <= largest_time, 0 < first where ratios are equal.
std::vector<double> linear_times(double first, double last, std::size_t count);
std::vector<double> log_times(double first, double last, std::size_t count);

/// Later times are refused: rates there are too small for a double's full precision.
inline constexpr double largest_time = 1e300;

/// Smaller tolerances are below what rounding leaves of a step.
inline constexpr double smallest_rtol = 1e-14;

struct IntegrateOptions {
  double rtol = 1e-10;                ///< largest error of a step, relative to each gap
  std::size_t max_steps = 1'000'000;  ///< tried
  GapState start = {};                ///< at time 0
};

/// The path at the times, which ascend from 0 or later to largest_time at most, by the pair of Dormand and Prince,
/// orders 5 and 4, with steps that follow the estimated error; times between steps by its interpolant of order 4. The
/// flow is not followed beyond the last time. Throws UsageError if the flow, a time or an option is out of range, and
/// UnfinishedError if the end needs more steps than allowed, or one too small for a double.
Trajectory integrate(const Flow& flow, const std::vector<double>& times, const IntegrateOptions& options = {});

struct EulerOptions {
  double dt = 0.01;
  GapState start = {};                                           ///< at time 0
  std::function<void(std::size_t samples)> on_sample = nullptr;  ///< called with how many there are so far
};

/// The same by Euler's method with steps of equal length, as in the paper's public script; times between steps lie on
/// the line between them. Keeps nothing but the samples. Throws as integrate().
Trajectory integrate_euler(const Flow& flow, const std::vector<double>& times, const EulerOptions& options = {});

}  // namespace fcam
