#include "fcam/dynamics/integrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "fcam/base/text.h"
#include "fcam/dynamics/invariants.h"

namespace fcam {
namespace {

void require(bool holds, const std::string& name, const std::string& expected, const std::string& found) {
  if (!holds) throw UsageError(name + ": expected " + expected + ", found " + found);
}

void require_range(double first, double last, std::size_t count, bool may_be_zero) {
  require(count >= 1, "times", "at least 1", "0");
  require(first > 0 || (may_be_zero && first == 0), "times",
          may_be_zero ? "a first one from 0 up" : "a first one above 0", shortest(first));
  require(last >= first && last <= largest_time, "times",
          "a last one from " + shortest(first) + " to " + shortest(largest_time), shortest(last));
}

bool is_finite(const GapState& y) { return std::isfinite(y.mu) && std::isfinite(y.nu); }

GapState along(const GapState& y, double h, const GapState& rates) {
  return {y.mu + h * rates.mu, y.nu + h * rates.nu};
}

// Collects the samples of a path in the order of the times.
class Recorder {
 public:
  Recorder(const Flow& flow, const std::vector<double>& times, const GapState& start)
      : flow_(checked(flow)), times_(times), invariant_(flow, start) {
    require(is_finite(start), "start", "finite gaps", shortest(start.mu) + " and " + shortest(start.nu));
    double earlier = 0;
    require(!times.empty(), "times", "at least 1", "none");
    for (const double t : times) {
      require(t >= earlier && t <= largest_time, "times", "numbers that ascend from 0 to " + shortest(largest_time),
              shortest(t));
      earlier = t;
    }
    path_.samples.reserve(times.size());
  }

  double end() const { return times_.back(); }
  std::size_t count() const { return path_.size(); }
  bool done() const { return count() == times_.size(); }
  double next() const { return times_[count()]; }  // time that is asked for
  double first_after_start() const { return *std::upper_bound(times_.begin(), times_.end(), 0.0); }

  void record(const GapState& y) {
    path_.samples.push_back({next(), y.mu, y.nu, flow_.focus(y), flow_.confidence(y), flow_.value(y)});
    invariant_.violation(path_.samples.back().t, y);
  }
  Trajectory finish(std::uint64_t steps, std::uint64_t rejected) {
    path_.steps = steps;
    path_.rejected = rejected;
    path_.violation = invariant_.largest();
    return std::move(path_);
  }

 private:
  static const Flow& checked(const Flow& flow) {
    require_valid(flow);
    return flow;
  }
  const Flow& flow_;
  const std::vector<double>& times_;
  Invariant invariant_;
  Trajectory path_;
};

// The pair of Dormand and Prince (1980), with Shampine's interpolant.
class DormandPrince {
 public:
  DormandPrince(const Flow& flow, const GapState& start) : flow_(flow), y_(start) { k_[0] = flow.rates(start); }

  const GapState& state() const { return y_; }
  const GapState& end() const { return next_; }
  const GapState& rates() const { return k_[0]; }

  // Tries a step of length h and returns its estimated error, the larger one of both gaps relative to their sizes.
  double attempt(double h) {
    static constexpr double a[6][6] = {{1. / 5},
                                       {3. / 40, 9. / 40},
                                       {44. / 45, -56. / 15, 32. / 9},
                                       {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                       {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                       {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
    static constexpr std::array<double, 7> error_weights{71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                                         -17253. / 339200, 22. / 525, -1. / 40};
    for (std::size_t stage = 0; stage < 6; ++stage) {
      GapState slope;
      for (std::size_t i = 0; i <= stage; ++i) slope = along(slope, a[stage][i], k_[i]);
      next_ = along(y_, h, slope);
      k_[stage + 1] = flow_.rates(next_);  // the last stage stands at the end of the step
    }
    const GapState error = weighted(error_weights);
    const auto relative = [h](double e, double from, double to) {
      const double size = std::max({std::abs(from), std::abs(to), std::numeric_limits<double>::min()});
      return std::abs(h * e) / size;
    };
    return std::max(relative(error.mu, y_.mu, next_.mu), relative(error.nu, y_.nu, next_.nu));
  }

  // The state at the part `theta` of the step of length h that attempt() has made.
  GapState interpolate(double h, double theta) const {
    static constexpr std::array<double, 7> weights{-12715105075. / 11282082432,  0,
                                                   87487479700. / 32700410799,   -10690763975. / 1880347072,
                                                   701980252875. / 199316789632, -1453857185. / 822651844,
                                                   69997945. / 29380423};
    const GapState bend = weighted(weights);
    const auto at = [&](double from, double to, double first, double last, double b) {
      const double change = to - from, start = h * first - change;
      return from +
             theta * (change + (1 - theta) * (start + theta * (change - h * last - start + (1 - theta) * h * b)));
    };
    return {at(y_.mu, next_.mu, k_[0].mu, k_[6].mu, bend.mu), at(y_.nu, next_.nu, k_[0].nu, k_[6].nu, bend.nu)};
  }

  void accept() {
    y_ = next_;
    k_[0] = k_[6];
  }

 private:
  GapState weighted(const std::array<double, 7>& weights) const {
    GapState sum;
    for (std::size_t i = 0; i < weights.size(); ++i) sum = along(sum, weights[i], k_[i]);
    return sum;
  }

  const Flow& flow_;
  GapState y_, next_;
  std::array<GapState, 7> k_;
};

// The factor for the next step from the errors of this one and the last, both relative to the tolerance: a PI
// controller with the constants of Hairer and Wanner's dopri5.
class StepControl {
 public:
  double factor_after(double error) {
    const double wanted = 0.9 * std::pow(std::max(error, 1e-10), -0.17) * std::pow(former_error_, 0.04);
    const double factor = std::clamp(wanted, 0.2, rejected_ ? 1.0 : 5.0);
    former_error_ = std::max(error, 1e-4);
    rejected_ = false;
    return factor;
  }
  double factor_of_retry(double error) {
    rejected_ = true;
    return std::isfinite(error) ? std::max(0.1, 0.9 * std::pow(error, -0.2)) : 0.1;
  }

 private:
  double former_error_ = 1e-4;
  bool rejected_ = false;
};

}  // namespace

std::vector<double> linear_times(double first, double last, std::size_t count) {
  require_range(first, last, count, true);
  std::vector<double> times(count, last);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    times[i] = std::min(last, first + (last - first) * (static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return times;
}

std::vector<double> log_times(double first, double last, std::size_t count) {
  require_range(first, last, count, false);
  std::vector<double> times(count, last);
  if (count > 1) times[0] = first;
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    times[i] = std::min(last, first * std::exp(part * (std::log(last) - std::log(first))));
  }
  return times;
}

Trajectory integrate(const Flow& flow, const std::vector<double>& times, const IntegrateOptions& options) {
  require(options.rtol >= smallest_rtol && options.rtol < 1, "rtol",
          "a number from " + shortest(smallest_rtol) + " to below 1", shortest(options.rtol));
  Recorder recorder(flow, times, options.start);
  while (!recorder.done() && recorder.next() == 0) recorder.record(options.start);
  if (recorder.done()) return recorder.finish(0, 0);

  DormandPrince method(flow, options.start);
  StepControl control;
  const double end = recorder.end();
  // A first step in which no gap moves by more than 0.01, and that does not leap over times that are asked for.
  const double speed = std::max({std::abs(method.rates().mu), std::abs(method.rates().nu), 0.01 / end});
  double t = 0, h = std::min(0.01 / speed, recorder.first_after_start());
  std::uint64_t steps = 0, rejected = 0;
  const auto stop = [&](const std::string& why) {
    throw UnfinishedError(to_string(flow.loss) + ": expected to reach time " + shortest(end) + ", found " + why +
                              " at time " + shortest(t),
                          recorder.finish(steps, rejected), t);
  };
  while (!recorder.done()) {
    if (steps + rejected == options.max_steps) stop("the limit of " + std::to_string(options.max_steps) + " steps");
    const bool last = t + 1.01 * h >= end;
    if (last) h = end - t;
    if (t + h == t) stop("a step too small for a double");
    const double error = method.attempt(h) / options.rtol;
    if (!(error <= 1) || !is_finite(method.end())) {
      h *= control.factor_of_retry(is_finite(method.end()) ? error : std::numeric_limits<double>::infinity());
      ++rejected;
      continue;
    }
    const double arrived = last ? end : t + h;
    while (!recorder.done() && recorder.next() <= arrived) {
      recorder.record(recorder.next() == arrived ? method.end() : method.interpolate(h, (recorder.next() - t) / h));
    }
    method.accept();
    t = arrived;
    h *= control.factor_after(error);
    ++steps;
  }
  return recorder.finish(steps, rejected);
}

Trajectory integrate_euler(const Flow& flow, const std::vector<double>& times, const EulerOptions& options) {
  require(std::isfinite(options.dt) && options.dt > 0, "dt", "a number above 0", shortest(options.dt));
  Recorder recorder(flow, times, options.start);
  constexpr double most_steps = 0x1p53;  // beyond, counting them as a double goes wrong
  require(recorder.end() / options.dt < most_steps, "dt", "a number above " + shortest(recorder.end() / most_steps),
          shortest(options.dt));
  GapState y = options.start;
  for (std::uint64_t step = 0;; ++step) {
    const double t = static_cast<double>(step) * options.dt;
    const double arrived = static_cast<double>(step + 1) * options.dt;
    const GapState rates = flow.rates(y);
    while (!recorder.done() && recorder.next() < arrived) {
      recorder.record(along(y, recorder.next() - t, rates));
      if (options.on_sample) options.on_sample(recorder.count());
    }
    if (recorder.done()) return recorder.finish(recorder.end() > t ? step + 1 : step, 0);
    y = along(y, options.dt, rates);
    if (!is_finite(y)) {
      throw UnfinishedError(to_string(flow.loss) + ": expected finite gaps, found others at time " + shortest(arrived),
                            recorder.finish(step, 0), arrived);
    }
  }
}

}  // namespace fcam
