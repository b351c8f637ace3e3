#include "fcam/dynamics/closed_form.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "fcam/dynamics/integrate.h"
#include "support/errors.h"
#include "support/golden.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr Loss losses_of_flow[] = {Loss::soft, Loss::hard, Loss::marginal};

}  // namespace

TEST_CASE("closed forms of fixed focus agree with independent values to 1e-10", "[dynamics]") {
  for (const auto& expected : golden("fixed_focus_linear.json")) {
    const Flow flow{.loss = find_flow_loss(expected["loss"].get<std::string>()),
                    .patches = 20,
                    .classes = expected["C"].get<std::size_t>(),
                    .alpha = expected["alpha"].get<double>()};
    for (std::size_t i = 0; i < expected["t"].size(); ++i) {
      CAPTURE(to_string(flow.loss), flow.classes, *flow.alpha, expected["t"][i].get<double>());
      const double mu = fixed_focus_mu(flow, expected["t"][i].get<double>());
      CHECK(mu == Approx(expected["mu"][i].get<double>()).epsilon(1e-10));
      CHECK(flow.value({mu, 0}) == Approx(expected["value"][i].get<double>()).epsilon(1e-10));
    }
  }
}

TEST_CASE("Lambert's function in log form solves w + ln w = x", "[dynamics]") {
  CHECK(lambert_w_of_exp(1) == Approx(1).epsilon(1e-15));
  CHECK(lambert_w_of_exp(0) == Approx(0.56714329040978387).epsilon(1e-15));  // the omega constant
  for (const double x : {-700.0, -36.5, -35.5, -5.0, -0.1, 0.5, 2.0, 17.0, 700.0, 1e6, 1e300}) {
    const double w = lambert_w_of_exp(x);
    CAPTURE(x, w);
    CHECK(w + std::log(w) == Approx(x).epsilon(1e-14));
  }
  CHECK(lambert_w_of_exp(-1e300) == 0);
}

TEST_CASE("closed forms and integration of fixed focus agree to 1e-10", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    for (const std::size_t classes : {2, 20, 100000}) {
      for (const double alpha : {1e-3, 0.2, 0.99, 1.0}) {
        const Flow flow{.loss = loss, .patches = 5, .classes = classes, .alpha = alpha};
        const Trajectory path = integrate(flow, log_times(1e-3, 1e9, 30), {.rtol = 1e-12});
        for (const FlowSample& s : path) {
          CAPTURE(to_string(loss), classes, alpha, s.t);
          CHECK(s.mu == Approx(fixed_focus_mu(flow, s.t)).epsilon(1e-10));
          CHECK(s.nu == 0);
        }
        CHECK(path.violation < 1e-8);
      }
    }
  }
}

TEST_CASE("closed forms keep their digits for small times and small focus", "[dynamics]") {
  for (const std::size_t classes : {2, 20, 100000}) {
    const double c = static_cast<double>(classes);
    const auto mu = [&](Loss loss, double alpha, double t) {
      return fixed_focus_mu({.loss = loss, .patches = 2, .classes = classes, .alpha = alpha}, t);
    };
    for (const Loss loss : losses_of_flow) {
      CHECK(mu(loss, 0.4, 1e-9) == Approx(0.4 * 1e-9 / c).epsilon(1e-8));
      CHECK(mu(loss, 0.4, 1e-200) == Approx(0.4 * 1e-200 / c).epsilon(1e-12));
      CHECK(mu(loss, 1e-200, 1e-9) == Approx(1e-209 / c).epsilon(1e-12));
      CHECK(mu(loss, 1e-200, 1) == Approx(1e-200 / c).epsilon(1e-12));
      CHECK(mu(loss, 0, 1e6) == 0);
      CHECK(mu(loss, 1, 0) == 0);
    }
  }
}

TEST_CASE("closed forms reach the end of time", "[dynamics]") {
  for (const double t : {1e20, 1e300}) {
    // e^mu is all that counts: mu = ln(alpha t), the marginal likelihood's also divided by 1 + (1 - alpha)/(alpha C).
    const auto mu = [&](Loss loss) {
      return fixed_focus_mu({.loss = loss, .patches = 2, .classes = 4, .alpha = 0.5}, t);
    };
    CHECK(mu(Loss::soft) == Approx(2 * std::log(0.25 * t)).epsilon(1e-12));
    CHECK(mu(Loss::hard) == Approx(std::log(0.5 * t)).epsilon(1e-12));
    CHECK(mu(Loss::marginal) == Approx(std::log(t / 1.25)).epsilon(1e-12));
  }
}

TEST_CASE("closed forms ask for a fixed alpha and a time", "[dynamics]") {
  check_error<UsageError>([] { fixed_focus_mu({}, 1); }, {"alpha", "none"});
  check_error<UsageError>([] { fixed_focus_mu({.alpha = 0.5}, -1); }, {"time", "-1"});
  check_error<UsageError>([] { fixed_focus_mu({.alpha = 0.5}, INFINITY); }, {"time", "inf"});
  check_error<UsageError>([] { fixed_focus_mu({.classes = 1, .alpha = 0.5}, 1); }, {"classes"});
}
