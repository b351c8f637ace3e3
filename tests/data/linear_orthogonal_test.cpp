#include "fcam/data/linear_orthogonal.h"

#include <cmath>
#include <limits>

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

std::vector<double> patch(const Mosaics& mosaics, const Mosaic& mosaic, int position) {
  std::vector<double> x(element_count(mosaics.shape()));
  mosaics.images().copy(mosaic.images[static_cast<std::size_t>(position)], x.data());
  return x;
}

}  // namespace

TEST_CASE("linear orthogonal mosaics: foreground around e_y in every coordinate, background on the last axis alone",
          "[data]") {
  const Mosaics mosaics = make_linear_orthogonal({.classes = 4, .patches = 6, .count = 3000, .seed = 3});
  CHECK(mosaics.shape() == Shape{5});
  CHECK(mosaics.classes() == 4);
  CHECK(mosaics.patches() == 6);
  CHECK(mosaics.count() == 3000);
  CHECK(mosaics.knows_positions());
  std::vector<double> labels(4), positions(6), noise(5), mean(5);
  double background = 0, background_mean = 0;
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    mosaics.draw(i, mosaic);
    ++labels[static_cast<std::size_t>(mosaic.label)];
    ++positions[static_cast<std::size_t>(mosaic.z)];
    for (int j = 0; j < 6; ++j) {
      std::vector<double> x = patch(mosaics, mosaic, j);
      if (j == mosaic.z) {
        x[static_cast<std::size_t>(mosaic.label)] -= 1;
        for (std::size_t k = 0; k < 5; ++k) noise[k] += x[k] * x[k], mean[k] += x[k];
      } else {
        for (std::size_t k = 0; k < 4; ++k) REQUIRE(x[k] == 0);
        background += x[4] * x[4];
        background_mean += x[4];
      }
    }
  }
  for (const double count : labels) CHECK(std::abs(count - 750) < 6 * std::sqrt(3000 * 0.25 * 0.75));
  for (const double count : positions) CHECK(std::abs(count - 500) < 6 * std::sqrt(3000 / 6.0 * 5 / 6.0));
  for (std::size_t k = 0; k < 5; ++k) {  // a variance of n numbers is off by sqrt(2/n), relatively; float adds 1e-8
    CHECK(noise[k] / 3000 == Approx(1e-10).epsilon(6 * std::sqrt(2 / 3000.0)));
    CHECK(std::abs(mean[k] / 3000) < 6 * 1e-5 / std::sqrt(3000.0));
  }
  CHECK(background / 15000 == Approx(1e-2).epsilon(6 * std::sqrt(2 / 15000.0)));
  CHECK(std::abs(background_mean / 15000) < 6 * 0.1 / std::sqrt(15000.0));
}

TEST_CASE("the base images of linear orthogonal mosaics are labelled as what they are", "[data]") {
  const Mosaics mosaics = make_linear_orthogonal({.classes = 3, .patches = 4, .count = 50});
  CHECK(mosaics.class_names() == std::vector<std::string>{"0", "1", "2"});
  CHECK(mosaics.images().class_names() == std::vector<std::string>{"0", "1", "2", "background"});
  Mosaic mosaic;
  for (std::size_t i = 0; i < 50; ++i) {
    mosaics.draw(i, mosaic);
    for (int j = 0; j < 4; ++j) {
      const int label = mosaics.images().labels()[mosaic.images[static_cast<std::size_t>(j)]];
      CHECK(label == (j == mosaic.z ? mosaic.label : 3));
    }
  }
}

TEST_CASE("a linear orthogonal mosaic is a function of seed, split and index, not of how many there are", "[data]") {
  const LinearOrthogonalOptions options{.classes = 5, .patches = 3, .count = 20, .seed = 7};
  const auto numbers = [](const LinearOrthogonalOptions& o) {
    const Mosaics mosaics = make_linear_orthogonal(o);
    return std::vector<float>(mosaics.images().values(0), mosaics.images().values(0) + 20 * 3 * 6);
  };
  const std::vector<float> first = numbers(options);
  LinearOrthogonalOptions other = options;
  other.count = 500;
  CHECK(numbers(other) == first);
  other = options;
  other.seed = 8;
  CHECK(numbers(other) != first);
  other = options;
  other.split = Split::test;
  CHECK(numbers(other) != first);
}

TEST_CASE("linear orthogonal mosaics are the same on every machine", "[data]") {
  const Mosaics mosaics = make_linear_orthogonal({.classes = 5, .patches = 4, .count = 200, .seed = 1});
  CHECK(content_hash(mosaics.images()) == 0x251816c2262ab219u);
}

TEST_CASE("the linear population has one exact mosaic a class", "[data]") {
  const Mosaics mosaics = make_linear_population(3, 4);
  REQUIRE(mosaics.count() == 3);
  CHECK(mosaics.patches() == 4);
  CHECK(mosaics.shape() == Shape{4});
  Mosaic mosaic;
  for (int k = 0; k < 3; ++k) {
    mosaics.draw(static_cast<std::size_t>(k), mosaic);
    CHECK(mosaic.label == k);
    CHECK(mosaic.z == 0);
    for (int j = 0; j < 4; ++j) {
      std::vector<double> expected(4, 0.0);
      if (j == 0) expected[static_cast<std::size_t>(k)] = 1;
      CHECK(patch(mosaics, mosaic, j) == expected);
    }
  }
}

TEST_CASE("linear orthogonal data of nothing, or with a variance that is none, are refused", "[data]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_error<UsageError>([] { make_linear_orthogonal({.classes = 0}); }, {"linear", "at least 1", "0"});
  check_error<UsageError>([] { make_linear_orthogonal({.patches = 0}); }, {"linear", "at least 1", "0"});
  check_error<UsageError>([] { make_linear_orthogonal({.count = 0}); }, {"linear", "at least 1", "0"});
  check_error<UsageError>([&] { make_linear_orthogonal({.foreground_variance = nan}); }, {"variances", "nan"});
  check_error<UsageError>([] { make_linear_orthogonal({.background_variance = -1e-9}); }, {"variances", "-1e-09"});
  check_error<UsageError>([] { make_linear_population(0, 3); }, {"linear", "at least 1", "0"});
  check_error<UsageError>([] { make_linear_population(3, 0); }, {"linear", "at least 1", "0"});
}

TEST_CASE("one patch or one class is linear orthogonal data, too", "[data]") {
  const Mosaics alone = make_linear_orthogonal({.classes = 2, .patches = 1, .count = 30});
  Mosaic mosaic;
  for (std::size_t i = 0; i < 30; ++i) {
    alone.draw(i, mosaic);
    CHECK(mosaic.z == 0);
  }
  CHECK(make_linear_orthogonal({.classes = 1, .patches = 3, .count = 5}).shape() == Shape{2});
  CHECK(make_linear_population(1, 1).count() == 1);
}
