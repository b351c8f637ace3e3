// What the paper observes on its Figure 4, measured: marginal likelihood converges first, hard attention ends with the
// largest nu. docs/math.md says where that holds.
#include <catch2/catch.hpp>
#include <cmath>

#include "fcam/dynamics/integrate.h"

using namespace fcam;

namespace {

struct Size {
  std::size_t patches, classes;
};

Flow flow_of(Loss loss, const Size& size) { return {.loss = loss, .patches = size.patches, .classes = size.classes}; }

// When the loss has fallen to a part of its start, ln C; in units of m C.
double time_to(double part, Loss loss, const Size& size) {
  const double unit = static_cast<double>(size.patches) * static_cast<double>(size.classes);
  for (const FlowSample& s : integrate(flow_of(loss, size), log_times(0.01 * unit, 1e3 * unit, 4000))) {
    if (s.value <= part * std::log(static_cast<double>(size.classes))) return s.t / unit;
  }
  FAIL("it does not fall so far");
  return 0;
}

FlowSample state_at(double units, Loss loss, const Size& size) {
  return integrate(flow_of(loss, size),
                   {units * static_cast<double>(size.patches) * static_cast<double>(size.classes)})[0];
}

}  // namespace

TEST_CASE("4a: with many classes marginal likelihood is the first to halve its loss",
          "[dynamics]") {
  CHECK(time_to(0.5, Loss::soft, {20, 20}) == Approx(1.461).epsilon(5e-3));
  CHECK(time_to(0.5, Loss::hard, {20, 20}) == Approx(1.559).epsilon(5e-3));
  CHECK(time_to(0.5, Loss::marginal, {20, 20}) == Approx(0.984).epsilon(5e-3));
  CHECK(time_to(0.5, Loss::soft, {100, 1000}) == Approx(1.310).epsilon(5e-3));
  CHECK(time_to(0.5, Loss::hard, {100, 1000}) == Approx(1.315).epsilon(5e-3));
  CHECK(time_to(0.5, Loss::marginal, {100, 1000}) == Approx(0.766).epsilon(5e-3));
  for (const Size& size : {Size{2, 20}, {5, 100}, {20, 20}, {100, 1000}, {1000, 10000}, {100000, 20}}) {
    CAPTURE(size.patches, size.classes);
    const double marginal = time_to(0.5, Loss::marginal, size);
    CHECK(marginal < 0.8 * time_to(0.5, Loss::soft, size));
    CHECK(marginal < 0.8 * time_to(0.5, Loss::hard, size));
  }
}

TEST_CASE("4a does not hold for two classes: soft attention is first, and hard attention last",
          "[dynamics]") {
  for (const std::size_t patches : {2, 20, 1000}) {
    CAPTURE(patches);
    CHECK(time_to(0.5, Loss::soft, {patches, 2}) < 0.9 * time_to(0.5, Loss::marginal, {patches, 2}));
    CHECK(time_to(0.5, Loss::marginal, {patches, 2}) < 0.9 * time_to(0.5, Loss::hard, {patches, 2}));
  }
}

TEST_CASE("in the end soft attention has the smallest loss, (C-1)/t against (2C-1)/t of the other two", "[dynamics]") {
  for (const Size& size : {Size{2, 2}, {20, 20}, {100, 1000}}) {
    const double c = static_cast<double>(size.classes), units = 1e9;
    const auto times_t = [&](Loss loss) {
      const FlowSample end = state_at(units, loss, size);
      return end.value * end.t;
    };
    CAPTURE(size.patches, size.classes);
    CHECK(times_t(Loss::soft) == Approx(c - 1).epsilon(0.02));
    CHECK(times_t(Loss::hard) == Approx(2 * c - 1).epsilon(0.02));
    CHECK(times_t(Loss::marginal) == Approx(2 * c - 1).epsilon(0.02));
  }
}

TEST_CASE("4b: hard attention ends with the largest nu, for all m and C", "[dynamics]") {
  for (const std::size_t patches : {2, 20, 1000}) {
    for (const std::size_t classes : {2, 3, 20, 10000}) {
      const Size size{patches, classes};
      CAPTURE(patches, classes);
      const double soft = state_at(100, Loss::soft, size).nu, hard = state_at(100, Loss::hard, size).nu,
                   marginal = state_at(100, Loss::marginal, size).nu;
      CHECK(hard > marginal + 0.3);
      CHECK(marginal > soft + 0.5);
      // In the limit the two differ by ln(C ln C / (C-1)), and both grow as ln t; soft attention as 2 ln ln t.
      const double c = static_cast<double>(classes);
      const double end_of_hard = state_at(1e6, Loss::hard, size).nu;
      CHECK(end_of_hard - state_at(1e6, Loss::marginal, size).nu ==
            Approx(std::log(c * std::log(c) / (c - 1))).epsilon(1e-3));
      CHECK(end_of_hard - hard == Approx(std::log(1e4)).epsilon(0.03));
    }
  }
  CHECK(state_at(100, Loss::hard, {20, 20}).nu == Approx(11.6229).epsilon(1e-5));
  CHECK(state_at(100, Loss::marginal, {20, 20}).nu == Approx(10.4796).epsilon(1e-5));
  CHECK(state_at(100, Loss::soft, {20, 20}).nu == Approx(6.8288).epsilon(1e-5));
}

TEST_CASE("4b is about the end: before, marginal likelihood's nu is the largest, or soft attention's of two classes",
          "[dynamics]") {
  CHECK(state_at(1, Loss::marginal, {20, 20}).nu == Approx(2.5173).epsilon(1e-4));
  CHECK(state_at(1, Loss::soft, {20, 20}).nu == Approx(0.6405).epsilon(1e-4));
  CHECK(state_at(1, Loss::hard, {20, 20}).nu == Approx(0.6020).epsilon(1e-4));
  CHECK(state_at(1, Loss::soft, {20, 2}).nu > 1.05 * state_at(1, Loss::marginal, {20, 2}).nu);
  CHECK(state_at(1, Loss::marginal, {20, 2}).nu > 1.05 * state_at(1, Loss::hard, {20, 2}).nu);
}
