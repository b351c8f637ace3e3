#include "fcam/dynamics/flow.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "fcam/attention/losses.h"
#include "fcam/base/random.h"
#include "support/errors.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr Loss losses_of_flow[] = {Loss::soft, Loss::hard, Loss::marginal};

using Number = long double;

struct Expected {
  Number mu_rate, nu_rate, value;
};

// The equations as the paper writes them.
Expected as_written(const Flow& flow, const GapState& state) {
  const Number m = static_cast<Number>(flow.patches), c = static_cast<Number>(flow.classes);
  const Number mu = state.mu, nu = state.nu;
  const Number alpha = flow.alpha ? Number(*flow.alpha) : std::exp(nu) / (std::exp(nu) + m - 1);
  const Number beta = std::exp(mu) / (std::exp(mu) + c - 1), z = alpha * beta + (1 - alpha) / c;
  const Number one = flow.alpha ? 0 : 1;
  switch (flow.loss) {
    case Loss::soft:
      return {alpha / (std::exp(alpha * mu) + c - 1),
              one * alpha * (1 - alpha) * (c - 1) * mu / (c * (std::exp(alpha * mu) + c - 1)),
              -std::log(std::exp(alpha * mu) / (std::exp(alpha * mu) + c - 1))};
    case Loss::hard:
      return {alpha / (std::exp(mu) + c - 1), one * alpha * (1 - alpha) * std::log(c * beta) / c,
              -alpha * std::log(beta) + (1 - alpha) * std::log(c)};
    case Loss::marginal:
      break;
  }
  return {alpha * beta / (z * (std::exp(mu) + c - 1)), one * alpha * (1 - alpha) * (beta - 1 / c) / (c * z),
          -std::log(z)};
}

void check_close(double found, Number expected, double tolerance) {
  CHECK(std::abs(static_cast<double>(found - expected)) <= tolerance * std::abs(static_cast<double>(expected)));
}

}  // namespace

TEST_CASE("rates and loss are those of the equations as written", "[dynamics]") {
  Random random(1, "test flow");
  for (int trial = 0; trial < 600; ++trial) {
    const auto draw = [&](double from, double to) { return from + (to - from) * random.uniform(); };
    Flow flow{.loss = losses_of_flow[trial % 3],
              .patches = 2 + random.below(200),
              .classes = 2 + random.below(2000),
              .alpha = {}};
    if (trial % 2 == 1) flow.alpha = draw(0, 1);
    const GapState state{draw(-6, 12), draw(-6, 12)};
    CAPTURE(to_string(flow.loss), flow.patches, flow.classes, flow.alpha.value_or(-1), state.mu, state.nu);
    const Expected expected = as_written(flow, state);
    const GapState rates = flow.rates(state);
    check_close(rates.mu, expected.mu_rate, 1e-13);
    check_close(rates.nu, expected.nu_rate, 1e-12);
    check_close(flow.value(state), expected.value, 1e-13);
  }
}

TEST_CASE("no digit is lost where gaps are small", "[dynamics]") {
  for (const double mu : {1e-3, -1e-6, 1e-12, -1e-100}) {
    for (const std::size_t classes : {2, 20, 100000}) {
      const double c = static_cast<double>(classes);
      const GapState state{mu, 0.5};
      const Flow hard{.loss = Loss::hard, .patches = 7, .classes = classes};
      const Flow marginal{.loss = Loss::marginal, .patches = 7, .classes = classes};
      const double a = hard.focus(state);
      // To second order in mu: ln(C beta) = (C-1)/C (mu - mu^2 / (2C)), C beta - 1 = (C-1)/C (mu + (1/2 - 1/C) mu^2).
      const double scale = a * (1 - a) / c * (c - 1) / c * mu;
      CHECK(hard.rates(state).nu == Approx(scale * (1 - mu / (2 * c))).epsilon(1e-13 + mu * mu));
      const double lead = (c - 1) / c * mu;
      CHECK(marginal.rates(state).nu ==
            Approx(scale * (1 + (0.5 - 1 / c) * mu) / (1 + a * lead)).epsilon(1e-13 + mu * mu));
    }
  }
}

TEST_CASE("small losses keep their digits", "[dynamics]") {
  const GapState state{60, 70};
  const double background = 4 * std::exp(-70.0), confusion = 2 * std::exp(-60.0);  // 1 - alpha, 1 - beta
  const auto value = [&](Loss loss) { return Flow{.loss = loss, .patches = 5, .classes = 3}.value(state); };
  CHECK(value(Loss::soft) == Approx(confusion).epsilon(1e-13));
  CHECK(value(Loss::hard) == Approx(confusion + background * std::log(3.0)).epsilon(1e-13));
  CHECK(value(Loss::marginal) == Approx(confusion + background * 2 / 3).epsilon(1e-13));
}

TEST_CASE("everything is finite at gaps as wide as they come", "[dynamics]") {
  const std::optional<double> alphas[] = {{}, 0.0, 1e-300, 0.3, 1.0};
  for (const Loss loss : losses_of_flow) {
    for (const std::size_t patches : {1, 2, 1000000}) {
      for (const std::size_t classes : {2, 3, 100000}) {
        for (const auto& alpha : alphas) {
          for (const double mu : {-1e300, -1000.0, -700.0, 0.0, 700.0, 1000.0, 1e300}) {
            for (const double nu : {-1e300, -1000.0, -700.0, 0.0, 700.0, 1000.0, 1e300}) {
              const Flow flow{.loss = loss, .patches = patches, .classes = classes, .alpha = alpha};
              const GapState state{mu, nu}, rates = flow.rates(state);
              CAPTURE(to_string(loss), patches, classes, alpha.value_or(-1), mu, nu, rates.mu, rates.nu);
              const double value = flow.value(state);
              const bool finite = std::isfinite(rates.mu) && std::isfinite(rates.nu) && std::isfinite(value);
              if (!finite || value < 0 || rates.mu < 0 || rates.nu * mu < 0) FAIL("not what it should be");
            }
          }
        }
      }
    }
  }
}

TEST_CASE("at wide gaps rates and loss tend to their limits", "[dynamics]") {
  const auto flow = [](Loss loss) { return Flow{.loss = loss, .patches = 11, .classes = 5}; };
  // Never right and looked at: the classifier is pushed as fast as it can be.
  CHECK(flow(Loss::soft).rates({-1000, 1000}).mu == Approx(0.25));
  CHECK(flow(Loss::hard).rates({-1000, 1000}).mu == Approx(0.25));
  CHECK(flow(Loss::hard).value({-1000, 1000}) == Approx(1000 + std::log(4)));
  CHECK(flow(Loss::hard).rates({-1000, 0}).nu == Approx(1 / 11. * 10 / 11. * (std::log(5) - 1000 - std::log(4)) / 5));
  // alpha beta = e^-1000 / 4 and (1 - alpha) / C = 10 e^-1000 / 5 are both below the smallest double.
  CHECK(flow(Loss::marginal).value({-1000, 1000}) == Approx(1000 - std::log(0.25 + 2)));
  CHECK(flow(Loss::marginal).rates({-1000, 1000}).mu == Approx(0.25 / 9));
  CHECK(flow(Loss::marginal).rates({-1000, 1000}).nu == Approx((0.25 / 2.25 - 1) / 5));
  CHECK(flow(Loss::marginal).rates({1000, -5}).nu ==
        Approx((1 / (1 + 2 * std::exp(5)) - 1 / (1 + 10 * std::exp(5))) / 5));
}

TEST_CASE("rates are the negative gradient of the loss, divided by C - 1 in mu and by C in nu", "[dynamics]") {
  Random random(2, "test flow");
  for (int trial = 0; trial < 60; ++trial) {
    const Flow flow{
        .loss = losses_of_flow[trial % 3], .patches = 1 + random.below(30), .classes = 2 + random.below(30)};
    const GapState state{8 * random.uniform() - 2, 6 * random.uniform() - 2}, rates = flow.rates(state);
    const double c = static_cast<double>(flow.classes), h = 1e-5;
    const double by_mu = (flow.value({state.mu + h, state.nu}) - flow.value({state.mu - h, state.nu})) / (2 * h);
    const double by_nu = (flow.value({state.mu, state.nu + h}) - flow.value({state.mu, state.nu - h})) / (2 * h);
    CHECK((c - 1) * rates.mu == Approx(-by_mu).margin(1e-9));
    CHECK(c * rates.nu == Approx(-by_nu).margin(1e-9));
  }
}

TEST_CASE("all losses start at ln C, and are one where there is one patch", "[dynamics]") {
  for (const Loss loss : losses_of_flow) {
    CHECK(Flow{.loss = loss, .patches = 30, .classes = 7}.value({}) == Approx(std::log(7)));
    const Flow alone{.loss = loss, .patches = 1, .classes = 7}, other{.loss = Loss::soft, .patches = 1, .classes = 7};
    CHECK(alone.focus({3, -2}) == 1);
    CHECK(alone.value({3, -2}) == Approx(other.value({3, 0})));
    CHECK(alone.rates({3, -2}).mu == Approx(other.rates({3, 0}).mu));
    CHECK(alone.rates({3, -2}).nu == 0);
  }
}

TEST_CASE("flows go by the names of the losses, and complain as these do", "[dynamics]") {
  REQUIRE(paper_losses().size() == 3);
  for (const Loss loss : losses_of_flow) CHECK(find_flow_loss(find_loss(to_string(loss)).name) == loss);
  CHECK(find_flow_loss("LV") == Loss::marginal);
  std::string expected;
  try {
    find_loss("lx", paper_losses());
  } catch (const UsageError& error) {
    expected = error.what();
  }
  check_error<UsageError>([] { find_flow_loss("lx"); }, {expected, "nearest"});
}

TEST_CASE("flows that do not exist are refused", "[dynamics]") {
  check_error<UsageError>([] { require_valid({.patches = 0}); }, {"patches", "at least 1", "0"});
  check_error<UsageError>([] { require_valid({.classes = 1}); }, {"classes", "at least 2", "1"});
  check_error<UsageError>([] { require_valid({.alpha = 1.5}); }, {"alpha", "0 to 1", "1.5"});
  check_error<UsageError>([] { require_valid({.alpha = std::nan("")}); }, {"alpha", "0 to 1", "nan"});
  check_error<UsageError>([] { require_valid({.patches = 1, .alpha = 0.5}); }, {"alpha", "one patch", "0.5"});
  require_valid({.patches = 1, .alpha = 1});
}
