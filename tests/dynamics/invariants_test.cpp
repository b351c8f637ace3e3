#include "fcam/dynamics/invariants.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "fcam/dynamics/integrate.h"

using namespace fcam;

namespace {

constexpr Loss losses_of_flow[] = {Loss::soft, Loss::hard, Loss::marginal};

}  // namespace

TEST_CASE("paths keep their invariant to 1e-8, whatever m and C", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    for (const std::size_t patches : {1, 2, 5, 1000}) {
      for (const std::size_t classes : {2, 3, 100000}) {
        CAPTURE(to_string(loss), patches, classes);
        const double scale = static_cast<double>(patches) * static_cast<double>(classes);
        const Flow flow{.loss = loss, .patches = patches, .classes = classes};
        CHECK(integrate(flow, log_times(1e-6 * scale, 1000 * scale, 50)).violation < 1e-8);
      }
    }
  }
}

TEST_CASE("paths keep their invariant to 1e-8 from any start", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    for (const double mu : {-1000.0, -3.0, 2.0, 1000.0}) {
      for (const double nu : {-1000.0, -2.0, 0.0, 4.0, 1000.0}) {
        CAPTURE(to_string(loss), mu, nu);
        const Flow flow{.loss = loss, .patches = 9, .classes = 4};
        const Trajectory path = integrate(flow, linear_times(0, 1e5, 20), {.rtol = 1e-12, .start = {mu, nu}});
        CHECK(path.violation < 1e-8);
        CHECK(path[0].mu == mu);
        CHECK(path[0].nu == nu);
        for (const FlowSample& s : path) CHECK((std::isfinite(s.mu) && std::isfinite(s.nu) && std::isfinite(s.value)));
      }
    }
  }
}

TEST_CASE("a state off the path violates the invariant by as much", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    const Flow flow{.loss = loss, .patches = 9, .classes = 4};
    for (const FlowSample& s : integrate(flow, log_times(1, 1000, 4))) {
      CAPTURE(to_string(loss), s.t);
      Invariant invariant(flow, {});
      CHECK(invariant.violation(s.t, {s.mu, s.nu}) < 1e-9);
      CHECK(invariant.largest() < 1e-9);
      CHECK(invariant.violation(s.t, {s.mu * 1.001, s.nu}) > 1e-3);
      CHECK(invariant.violation(s.t, {s.mu, s.nu * 1.001}) > 5e-4);
      CHECK(invariant.largest() > 1e-3);
      CHECK(invariant.violation(s.t, {s.mu, s.nu}) < 1e-9);
    }
    Flow fixed = flow;
    fixed.alpha = 0.3;
    for (const FlowSample& s : integrate(fixed, log_times(1, 1000, 4))) {
      Invariant invariant(fixed, {});
      CHECK(invariant.violation(s.t, {s.mu, 0}) < 1e-9);
      CHECK(invariant.violation(s.t, {s.mu * 1.001, 0}) > 5e-4);
      CHECK(invariant.violation(s.t * 1.001, {s.mu, 0}) > 5e-4);
    }
  }
}

TEST_CASE("hard attention's integral is that of a fine midpoint rule", "[dynamics]") {
  const Flow flow{.loss = Loss::hard, .patches = 2, .classes = 2};
  double integral = 0;
  constexpr int parts = 200000;
  for (int i = 0; i < parts; ++i) {
    const double u = 3.0 * (i + 0.5) / parts;
    integral += std::log(2 / (1 + std::exp(-u))) * (std::exp(u) + 1) * 3.0 / parts;
  }
  // e^nu - 1 + nu = integral / 2
  double nu = 1;
  for (int round = 0; round < 50; ++round) nu -= (std::expm1(nu) + nu - integral / 2) / (std::exp(nu) + 1);
  CHECK(Invariant(flow, {}).violation(0, {3, nu}) < 1e-9);
}
