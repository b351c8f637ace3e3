// Paths of the flow against golden values, closed forms, invariants, and each other.
#include "fcam/dynamics/integrate.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "fcam/dynamics/closed_form.h"
#include "support/errors.h"
#include "support/golden.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr Loss losses_of_flow[] = {Loss::soft, Loss::hard, Loss::marginal};

double relative_error(double found, double expected) {
  return found == expected ? 0 : std::abs(found - expected) / std::abs(expected);
}

}  // namespace

TEST_CASE("paths of free focus agree with an independent solver to 1e-9", "[dynamics]") {
  for (const auto& expected : golden("gradient_flow.json")) {
    const Flow flow{.loss = find_flow_loss(expected["loss"].get<std::string>()),
                    .patches = expected["m"].get<std::size_t>(),
                    .classes = expected["C"].get<std::size_t>()};
    const Trajectory path = integrate(flow, expected["t"].get<std::vector<double>>());
    for (std::size_t i = 0; i < path.size(); ++i) {
      INFO(expected["loss"] << " m " << flow.patches << " C " << flow.classes << " t " << path[i].t);
      CHECK(relative_error(path[i].mu, expected["mu"][i].get<double>()) < 1e-9);
      CHECK(relative_error(path[i].nu, expected["nu"][i].get<double>()) < 1e-9);
    }
  }
}

TEST_CASE("samples between steps are as good as ends of steps", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const Flow flow{.loss = loss, .patches = 30, .classes = 10};
    const std::vector<double> times = log_times(1e-3, 1e5, 400);
    const Trajectory dense = integrate(flow, times);
    REQUIRE(dense.size() == 400);
    for (std::size_t i = 0; i < times.size(); i += 19) {
      CAPTURE(to_string(loss), times[i]);
      const FlowSample end = integrate(flow, {times[i]}, {.rtol = 1e-12})[0];
      CHECK(dense[i].t == times[i]);
      CHECK(relative_error(dense[i].mu, end.mu) < 1e-9);
      CHECK(relative_error(dense[i].nu, end.nu) < 1e-9);
    }
  }
}

TEST_CASE("a smaller tolerance takes more steps and ends nearer", "[dynamics]") {
  const Flow flow{.loss = Loss::hard, .patches = 20, .classes = 20};
  const Trajectory best = integrate(flow, {2000}, {.rtol = 1e-13});
  double former_error = 1;
  std::uint64_t former_steps = 0;
  for (const double rtol : {1e-4, 1e-7, 1e-10}) {
    const Trajectory path = integrate(flow, {2000}, {.rtol = rtol});
    const double error = std::abs(path[0].nu - best[0].nu);
    CHECK(error < former_error / 50);
    CHECK(path.steps > former_steps);
    former_error = error;
    former_steps = path.steps;
  }
  CHECK(best.steps < 2000);
  CHECK(integrate(flow, {2000}, {.rtol = smallest_rtol})[0].nu == Approx(best[0].nu).epsilon(1e-11));
}

TEST_CASE("huge m, C and times take few steps", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const Trajectory path = integrate({.loss = loss, .patches = 1000, .classes = 10000}, log_times(1, 4e8, 200));
    CHECK(path.steps < 1000);
    CHECK(path.violation < 1e-8);
    CHECK(integrate({.loss = loss, .patches = 1000000, .classes = 100000}, {1e300}).steps < 10000);
  }
}

TEST_CASE("samples carry the attention, the probability and the loss of their gaps", "[dynamics]") {
  const Flow flow{.loss = Loss::marginal, .patches = 4, .classes = 3};
  for (const FlowSample& s : integrate(flow, linear_times(0, 50, 6))) {
    CHECK(s.alpha == Approx(std::exp(s.nu) / (std::exp(s.nu) + 3)).epsilon(1e-14));
    CHECK(s.beta == Approx(std::exp(s.mu) / (std::exp(s.mu) + 2)).epsilon(1e-14));
    CHECK(s.value == Approx(-std::log(s.alpha * s.beta + (1 - s.alpha) / 3)).epsilon(1e-13));
  }
}

TEST_CASE("the flow is never asked for beyond the last time", "[dynamics]") {
  // From far below zero mu grows by t / (C - 1) almost exactly: a state beyond the end would show in the last sample.
  const Flow flow{.loss = Loss::hard, .patches = 1, .classes = 3};
  const Trajectory path = integrate(flow, {0, 1, 1, 7}, {.start = {-1000, 0}});
  REQUIRE(path.size() == 4);
  CHECK(path[0].mu == -1000);
  CHECK(path[1].mu == path[2].mu);
  CHECK(path[1].mu == Approx(-999.5).epsilon(1e-14));
  CHECK(path[3].mu == Approx(-996.5).epsilon(1e-14));
  const Trajectory none = integrate(flow, {0, 0});
  CHECK(none.size() == 2);
  CHECK(none.steps == 0);
}

TEST_CASE("Euler's method is its rule, and straight lines between the steps", "[dynamics]") {
  const Flow flow{.loss = Loss::soft, .patches = 3, .classes = 4};
  GapState y{0.5, -0.25};
  const GapState start = y;
  std::vector<GapState> steps{y};
  for (int i = 0; i < 3; ++i) {
    const GapState rates = flow.rates(y);
    y = {y.mu + 0.5 * rates.mu, y.nu + 0.5 * rates.nu};
    steps.push_back(y);
  }
  const Trajectory path = integrate_euler(flow, {0, 0.5, 1.2, 1.5}, {.dt = 0.5, .start = start});
  REQUIRE(path.size() == 4);
  CHECK(path[0].mu == start.mu);
  CHECK(path[1].mu == Approx(steps[1].mu).epsilon(1e-15));
  CHECK(path[1].nu == Approx(steps[1].nu).epsilon(1e-15));
  CHECK(path[2].nu == Approx(0.6 * steps[2].nu + 0.4 * steps[3].nu).epsilon(1e-15));
  CHECK(path[3].mu == Approx(steps[3].mu).epsilon(1e-15));
  CHECK(path.steps == 3);
  CHECK(path.rejected == 0);
}

TEST_CASE("Euler's method converges to the path in the first order", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const Flow flow{.loss = loss, .patches = 5, .classes = 3};
    const FlowSample exact = integrate(flow, {60})[0];
    double former = 0;
    for (const double dt : {0.4, 0.2, 0.1, 0.05}) {
      const Trajectory path = integrate_euler(flow, {60}, {.dt = dt});
      const double error = std::max(std::abs(path[0].mu - exact.mu), std::abs(path[0].nu - exact.nu));
      if (former > 0) CHECK(former / error == Approx(2).epsilon(0.1));
      former = error;
      CHECK(path.violation > 1e-5);  // and the invariant shows that it is not there yet
    }
  }
}

TEST_CASE("a path that needs more steps than allowed is an error that keeps what there is", "[dynamics]") {
  const Flow flow{.loss = Loss::hard, .patches = 20, .classes = 20};
  const std::vector<double> times = log_times(0.1, 1000, 50);
  const Trajectory whole = integrate(flow, times);
  try {
    integrate(flow, times, {.max_steps = 10});
    FAIL("it has reached the end");
  } catch (const UnfinishedError& error) {
    CHECK_THAT(error.what(), Catch::Contains("ha") && Catch::Contains("time 1000") && Catch::Contains("10 steps"));
    CHECK(error.time() > 0);
    CHECK(error.time() < 1000);
    CHECK(error.path().steps + error.path().rejected == 10);
    REQUIRE(error.path().size() > 0);
    REQUIRE(error.path().size() < 50);
    for (std::size_t i = 0; i < error.path().size(); ++i) CHECK(error.path()[i].mu == whole[i].mu);
    CHECK(times[error.path().size()] > error.time());
  }
}

TEST_CASE("times, tolerances and starts that are none are refused", "[dynamics]") {
  const Flow flow;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double rtol : {0.0, 1e-30, -1.0, 1.0, nan, infinity}) {
    check_error<UsageError>([&] { integrate(flow, {1}, {.rtol = rtol}); }, {"rtol", "1e-14"});
  }
  for (const std::vector<double>& times :
       {std::vector<double>{}, {-1}, {nan}, {infinity}, {1e301}, {1, 0.5}, {0, 1, infinity}}) {
    check_error<UsageError>([&] { integrate(flow, times); }, {"times"});
    check_error<UsageError>([&] { integrate_euler(flow, times); }, {"times"});
  }
  check_error<UsageError>([&] { integrate(flow, {1}, {.start = {nan, 0}}); }, {"start", "nan"});
  check_error<UsageError>([&] { integrate(flow, {1}, {.start = {0, infinity}}); }, {"start", "inf"});
  for (const double dt : {0.0, -0.1, nan, infinity, 1e-17}) {
    check_error<UsageError>([&] { integrate_euler(flow, {1}, {.dt = dt}); }, {"dt", "above"});
  }
  check_error<UsageError>([] { integrate({.classes = 1}, {1}); }, {"classes"});
  check_error<UsageError>([] { linear_times(0, 1, 0); }, {"times", "at least 1"});
  check_error<UsageError>([] { linear_times(2, 1, 3); }, {"times", "from 2 to 1e+300", "1"});
  check_error<UsageError>([] { log_times(0, 1, 3); }, {"times", "above 0"});
  check_error<UsageError>([&] { log_times(1, infinity, 3); }, {"times", "inf"});
}

TEST_CASE("times are at equal distances or ratios, both ends exact", "[dynamics]") {
  CHECK(linear_times(1, 3, 5) == std::vector<double>{1, 1.5, 2, 2.5, 3});
  CHECK(linear_times(0, 0.3, 1) == std::vector<double>{0.3});
  const std::vector<double> times = log_times(1e-3, 4e5, 101);
  CHECK(times.front() == 1e-3);
  CHECK(times.back() == 4e5);
  for (std::size_t i = 1; i < times.size(); ++i) {
    CHECK(times[i] / times[i - 1] == Approx(std::pow(4e8, 0.01)).epsilon(1e-12));
  }
  CHECK(log_times(2, 2, 3) == std::vector<double>{2, 2, 2});
}

TEST_CASE("Euler's method counts a last step that is cut short") {
  const Flow flow{.loss = Loss::soft, .patches = 5, .classes = 3};
  CHECK(integrate_euler(flow, {10}, {.dt = 2.5}).steps == 4);
  CHECK(integrate_euler(flow, {10}, {.dt = 3}).steps == 4);
  CHECK(integrate_euler(flow, {10}, {.dt = 20}).steps == 1);
}
