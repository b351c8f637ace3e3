#include "fcam/analysis/metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "fcam/base/random.h"

using namespace fcam;

namespace {

// One mosaic: label, position, attention, scores.
template <class T = double>
struct Seen {
  int y, z;
  std::vector<T> a, s;
};

template <class T = double>
Metrics metrics_of(const std::vector<Seen<T>>& mosaics, std::size_t bins = 5) {
  MetricsSum sum(bins);
  for (const auto& m : mosaics) sum.add(m.y, m.z, std::span(m.a), std::span(m.s));
  return sum.result();
}

std::vector<double> distribution(Random& random, std::size_t size) {
  std::vector<double> p(size);
  double total = 0;
  for (double& value : p) total += value = random.uniform();
  for (double& value : p) value /= total;
  return p;
}

// Random mosaics of four patches and three classes, some of them with tied attention.
std::vector<Seen<>> random_mosaics(std::size_t count) {
  Random random(1, "test metrics");
  std::vector<Seen<>> mosaics;
  for (std::size_t i = 0; i < count; ++i) {
    auto a = i % 5 == 0 ? std::vector{0.4, 0.1, 0.4, 0.1} : distribution(random, 4);
    mosaics.push_back(
        {static_cast<int>(random.below(3)), static_cast<int>(random.below(4)), std::move(a), distribution(random, 3)});
  }
  return mosaics;
}

}  // namespace

TEST_CASE("the pull on the focus and the incentive are those counted by hand", "[analysis]") {
  MetricsSum sum;
  const auto add = [&](int z, std::vector<double> a, std::vector<double> gradient) {
    sum.add_gradient<double>(z, a, gradient);
  };
  CHECK(std::isnan(sum.result().focus_gradient));
  CHECK(std::isnan(sum.result().incentive));
  add(1, {0.5, 0.25, 0.25}, {0.1, -0.3, 0.2});
  add(0, {0.8, 0.1, 0.1}, {0.08, -0.04, -0.04});
  add(-1, {0.5, 0.5, 0}, {0.2, -0.2, 0});
  add(0, {1, 0, 0}, {0, 0, 0});  // nothing can be told where a_z does not move
  const Metrics metrics = sum.result();
  CHECK(metrics.focus_gradient == Approx((0.6 + 0.16 + 0.4 + 0) / 4));
  CHECK(metrics.incentive == Approx((0.3 / (0.25 * 0.75) - 0.08 / (0.8 * 0.2)) / 2));
}

TEST_CASE("the metrics of four mosaics are those counted by hand", "[analysis]") {
  const Metrics metrics = metrics_of({
      {0, 1, {0.1, 0.9}, {0.85, 0.15}},  // focus true, prediction true
      {1, 0, {0.25, 0.75}, {0.4, 0.6}},  // false, true
      {1, 0, {0.6, 0.4}, {0.7, 0.3}},    // true, false
      {0, 1, {1, 0}, {0, 1}},            // false, false
  });
  CHECK(metrics.n == 4);
  CHECK(metrics.accuracy == 0.5);
  CHECK(metrics.ftpt == 0.25);
  CHECK(metrics.ffpt == 0.25);
  CHECK(metrics.ftpf == 0.25);
  CHECK(metrics.ffpf == 0.25);
  CHECK(metrics.focus_mean == Approx((0.9 + 0.25 + 0.6 + 0) / 4).epsilon(1e-14));
  const auto entropy = [](double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); };
  CHECK(metrics.focus_entropy == Approx((entropy(0.1) + entropy(0.25) + entropy(0.6)) / 4).epsilon(1e-14));
  CHECK(metrics.saif == 0.25);
  CHECK(metrics.heat_map.at(4, 4) == 0.25);
  CHECK(metrics.heat_map.at(3, 1) == 0.25);
  CHECK(metrics.heat_map.at(1, 3) == 0.25);
  CHECK(metrics.heat_map.at(0, 0) == 0.25);
}

TEST_CASE("the four shares of focus and prediction add up to one, true predictions to the accuracy", "[analysis]") {
  const Metrics metrics = metrics_of(random_mosaics(999));
  CHECK(metrics.ftpt + metrics.ffpt + metrics.ftpf + metrics.ffpf == Approx(1).epsilon(1e-14));
  CHECK(metrics.ftpt + metrics.ffpt == Approx(metrics.accuracy).epsilon(1e-14));
  for (const double share : {metrics.ftpt, metrics.ffpt, metrics.ftpf, metrics.ffpf}) CHECK(share > 0);
}

TEST_CASE("a focus that is tied among k patches, z one of them, counts as 1/k true", "[analysis]") {
  const Metrics right = metrics_of({{0, 2, {0.4, 0.2, 0.4}, {1, 0}}});
  CHECK(right.ftpt == 0.5);
  CHECK(right.ffpt == 0.5);
  const Metrics wrong = metrics_of({{1, 0, {0.25, 0.25, 0.25, 0.25}, {1, 0}}});
  CHECK(wrong.ftpf == 0.25);
  CHECK(wrong.ffpf == 0.75);
}

TEST_CASE("a tie that leaves z out is a false focus", "[analysis]") {
  CHECK(metrics_of({{0, 1, {0.4, 0.2, 0.4}, {1, 0}}}).ftpt == 0);
}

TEST_CASE("an untrained, uniform focus is true for one mosaic in m", "[analysis]") {
  const Metrics metrics =
      metrics_of<float>({{0, 0, std::vector(5, 0.2F), {1, 0}}, {1, 4, std::vector(5, 0.2F), {1, 0}}});
  CHECK(metrics.ftpt == Approx(0.1).epsilon(1e-14));
  CHECK(metrics.ftpf == Approx(0.1).epsilon(1e-14));
  CHECK(metrics.focus_entropy == Approx(std::log(5)).epsilon(1e-6));
  CHECK(metrics.focus_mean == Approx(0.2).epsilon(1e-6));
}

TEST_CASE("the predicted class is the first of equal scores", "[analysis]") {
  CHECK(metrics_of({{0, 0, {1}, {0.5, 0.5}}}).accuracy == 1);
  CHECK(metrics_of({{1, 0, {1}, {0.5, 0.5}}}).accuracy == 0);
}

TEST_CASE("without positions the focus metrics are NaN, accuracy and entropy are not", "[analysis]") {
  const Metrics metrics = metrics_of({{0, -1, {0.5, 0.5}, {1, 0}}, {0, -1, {1, 0}, {0, 1}}});
  for (const double unknown :
       {metrics.ftpt, metrics.ffpt, metrics.ftpf, metrics.ffpf, metrics.focus_mean, metrics.saif}) {
    CHECK(std::isnan(unknown));
  }
  CHECK(metrics.accuracy == 0.5);
  CHECK(metrics.focus_entropy == Approx(std::log(2) / 2).epsilon(1e-14));
  CHECK(metrics.heat_map.total() == 0);
}

TEST_CASE("where some positions are known, the focus metrics are over those mosaics", "[analysis]") {
  const Metrics metrics = metrics_of({
      {0, -1, {0.5, 0.5}, {0, 1}},
      {0, 0, {0.9, 0.1}, {0.9, 0.1}},
      {0, -1, {0.5, 0.5}, {0, 1}},
      {0, 0, {0.2, 0.8}, {0.9, 0.1}},
  });
  CHECK(metrics.n == 4);
  CHECK(metrics.accuracy == 0.5);
  CHECK(metrics.ftpt == 0.5);
  CHECK(metrics.ffpt == 0.5);
  CHECK(metrics.ftpf + metrics.ffpf == 0);
  CHECK(metrics.focus_mean == Approx(0.55).epsilon(1e-14));
  CHECK(metrics.saif == 0.5);
  CHECK(metrics.heat_map.total() == 2);
}

TEST_CASE("the entropy of the focus is in nats, and zero for a patch alone", "[analysis]") {
  CHECK(metrics_of({{0, 0, std::vector(8, 0.125), {1, 0}}}).focus_entropy == Approx(3 * std::log(2)).epsilon(1e-14));
  CHECK(metrics_of({{0, 0, {0, 1, 0}, {1, 0}}}).focus_entropy == 0);
}

TEST_CASE("saif is that of five bins however many the heat map has", "[analysis]") {
  const auto mosaics = random_mosaics(200);
  const double expected = metrics_of(mosaics, 5).heat_map.saif();
  for (const std::size_t bins : {1, 2, 5, 7, 20}) {
    const Metrics metrics = metrics_of(mosaics, bins);
    CHECK(metrics.saif == expected);
    CHECK(metrics.heat_map.bins() == bins);
    CHECK(metrics.heat_map.total() == 200);
  }
}

TEST_CASE("with one patch the focus is always true", "[analysis]") {
  const Metrics metrics = metrics_of({{0, 0, {1}, {0.9, 0.1}}, {1, 0, {1}, {0.9, 0.1}}});
  CHECK(metrics.ftpt == metrics.accuracy);
  CHECK(metrics.ftpf == 0.5);
  CHECK(metrics.focus_mean == 1);
  CHECK(metrics.focus_entropy == 0);
}

TEST_CASE("metrics of float and of double values agree", "[analysis]") {
  const auto mosaics = random_mosaics(100);
  std::vector<Seen<float>> floats;
  for (const auto& m : mosaics) floats.push_back({m.y, m.z, {m.a.begin(), m.a.end()}, {m.s.begin(), m.s.end()}});
  const Metrics a = metrics_of(mosaics), b = metrics_of(floats);
  CHECK(a.accuracy == b.accuracy);
  CHECK(a.ftpt == b.ftpt);
  CHECK(b.focus_mean == Approx(a.focus_mean).epsilon(1e-6));
  CHECK(b.focus_entropy == Approx(a.focus_entropy).epsilon(1e-6));
}

TEST_CASE("mean losses are weighted by the mosaics they stand for", "[analysis]") {
  MetricsSum sum;
  const std::vector<double> one{1};
  for (int i = 0; i < 4; ++i) sum.add(0, 0, std::span<const double>(one), std::span<const double>(one));
  sum.add_loss(1.0, 3);
  sum.add_loss(5.0, 1);
  CHECK(sum.result().loss == 2);
}

TEST_CASE("no mosaics have no metrics", "[analysis]") {
  const Metrics metrics = MetricsSum().result();
  CHECK(metrics.n == 0);
  CHECK(std::isnan(metrics.loss));
  CHECK(std::isnan(metrics.accuracy));
  CHECK(std::isnan(metrics.saif));
}

TEST_CASE("classes are counted by label, by right prediction and by prediction", "[analysis]") {
  const Metrics metrics = metrics_of({
      {0, 0, {1.0}, {0.8, 0.1, 0.1}},
      {1, 0, {1.0}, {0.8, 0.1, 0.1}},
      {1, 0, {1.0}, {0.1, 0.8, 0.1}},
      {2, -1, {1.0}, {0.6, 0.2, 0.2}},
  });
  REQUIRE(metrics.classes.size() == 3);
  const auto check = [&](std::size_t c, std::size_t n, std::size_t correct, std::size_t predicted) {
    CAPTURE(c);
    CHECK(metrics.classes[c].n == n);
    CHECK(metrics.classes[c].correct == correct);
    CHECK(metrics.classes[c].predicted == predicted);
  };
  check(0, 1, 1, 3);
  check(1, 2, 1, 1);
  check(2, 1, 0, 0);
}

TEST_CASE("a sum that is taken to another place goes on to the same bits", "[analysis]") {
  const auto mosaics = random_mosaics(100);
  MetricsSum whole, first;
  for (std::size_t i = 0; i < mosaics.size(); ++i) {
    for (MetricsSum* sum : {&whole, &first}) {
      if (sum == &first && i >= 60) continue;
      sum->add(mosaics[i].y, mosaics[i].z, std::span(mosaics[i].a), std::span(mosaics[i].s));
      sum->add_loss(0.1 * static_cast<double>(i), 1);
    }
  }
  MetricsSum second;
  REQUIRE(second.restore(first.numbers(), 3));
  CHECK(second.numbers() == first.numbers());
  for (std::size_t i = 60; i < mosaics.size(); ++i) {
    second.add(mosaics[i].y, mosaics[i].z, std::span(mosaics[i].a), std::span(mosaics[i].s));
    second.add_loss(0.1 * static_cast<double>(i), 1);
  }
  CHECK(second.numbers() == whole.numbers());
  CHECK(second.result().saif == whole.result().saif);
  CHECK(second.result().loss == whole.result().loss);
}

TEST_CASE("numbers that are none of such a sum are not taken", "[analysis]") {
  MetricsSum sum;
  const double a[] = {1.0}, s[] = {0.25, 0.75};
  sum.add(1, 0, std::span<const double>(a), std::span<const double>(s));
  const std::vector<double> right = sum.numbers();
  MetricsSum other;
  const auto refuse = [&](std::vector<double> numbers, std::size_t classes) {
    CHECK_FALSE(other.restore(numbers, classes));
    CHECK(other.numbers() == MetricsSum().numbers());
  };
  refuse(right, 3);
  refuse(right, 1);
  refuse({}, 2);
  for (const double wrong : {-1.0, 1e300, std::nan(""), HUGE_VAL}) {
    auto numbers = right;
    numbers[0] = wrong;
    refuse(numbers, 2);
  }
  CHECK(other.restore(right, 2));
}
