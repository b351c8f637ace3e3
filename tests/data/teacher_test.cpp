#include "fcam/data/teacher.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "support/errors.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// A teacher of dimension 2 who looks at the first number and classifies by the sign of the second.
Teacher plain_teacher(double focus, double classify) {
  Teacher teacher = make_teacher({.classes = 2, .dimension = 2});
  const std::vector<double> f{focus, 0}, g{0, classify, 0, -classify};
  std::copy(f.begin(), f.end(), teacher.focus.data());
  std::copy(g.begin(), g.end(), teacher.classify.data());
  return teacher;
}

struct Patch {
  double first, second;
};
std::vector<Patch> patches_of(const Mosaics& mosaics, const Mosaic& mosaic) {
  std::vector<Patch> patches;
  for (const std::size_t image : mosaic.images) {
    const float* x = mosaics.images().values(image);
    patches.push_back({static_cast<double>(x[0]), static_cast<double>(x[1])});
  }
  return patches;
}

}  // namespace

TEST_CASE("a teacher's weights give scores and logits of the asked deviation", "[teacher]") {
  const Teacher teacher =
      make_teacher({.classes = 40, .dimension = 500, .seed = 5, .focus_scale = 2, .classify_scale = 3});
  CHECK(shape_of(teacher.focus) == Shape{500});
  CHECK(shape_of(teacher.classify) == Shape{40, 500});
  double focus = 0, classify = 0;
  for (std::size_t d = 0; d < 500; ++d) focus += teacher.focus.data()[d] * teacher.focus.data()[d];
  for (std::size_t i = 0; i < 20000; ++i) classify += teacher.classify.data()[i] * teacher.classify.data()[i];
  CHECK(std::sqrt(focus) == Approx(2).epsilon(0.2));  // one of 500 numbers is off by sqrt(1 / 1000)
  CHECK(std::sqrt(classify / 40) == Approx(3).epsilon(0.03));
}

TEST_CASE("a teacher chooses patches by softmax f* and labels by softmax g*", "[teacher]") {
  const Teacher teacher = plain_teacher(1.5, 0.8);
  const Mosaics mosaics = make_teacher_mosaics(teacher, 3, 40000, Split::train);
  CHECK(mosaics.knows_positions());
  CHECK(mosaics.class_names() == std::vector<std::string>{"0", "1"});
  // What was drawn less its expectation, given the patches: sums of independent numbers of mean zero.
  double z_excess = 0, z_variance = 0, y_excess = 0, y_variance = 0, mean = 0, square = 0;
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    mosaics.draw(i, mosaic);
    const std::vector<Patch> patches = patches_of(mosaics, mosaic);
    double total = 0, expected = 0, expected_square = 0;
    for (const Patch& x : patches) {
      const double weight = std::exp(1.5 * x.first);
      total += weight;
      expected += weight * x.first;
      expected_square += weight * x.first * x.first;
      mean += x.second;
      square += x.second * x.second;
    }
    expected /= total;
    z_excess += patches[static_cast<std::size_t>(mosaic.z)].first - expected;
    z_variance += expected_square / total - expected * expected;
    const double p = 1 / (1 + std::exp(-1.6 * patches[static_cast<std::size_t>(mosaic.z)].second));
    y_excess += (mosaic.label == 0 ? 1 : 0) - p;
    y_variance += p * (1 - p);
  }
  CHECK(std::abs(z_excess) < 5 * std::sqrt(z_variance));
  CHECK(std::abs(y_excess) < 5 * std::sqrt(y_variance));
  CHECK(std::abs(mean) < 5 * std::sqrt(120000.0));
  CHECK(square / 120000 == Approx(1).epsilon(0.03));
}

TEST_CASE("the Bayes risk is that of p(y|x), the expected one near the one of the labels as drawn", "[teacher]") {
  // A teacher without focus and without doubt: p(y|x) is the share of the patches that show y.
  const Mosaics pairs = make_teacher_mosaics(plain_teacher(0, 1e6), 2, 4000, Split::train);
  double entropy = 0, error = 0;
  Mosaic mosaic;
  for (std::size_t i = 0; i < 4000; ++i) {
    pairs.draw(i, mosaic);
    const std::vector<Patch> x = patches_of(pairs, mosaic);
    const bool split = (x[0].second > 0) != (x[1].second > 0);
    entropy += split ? std::log(2) : 0;
    error += split ? 0.5 : 0;
  }
  const BayesRisk risk = bayes_risk(plain_teacher(0, 1e6), pairs);
  CHECK(risk.loss == Approx(entropy / 4000).epsilon(1e-6));
  CHECK(risk.error == Approx(error / 4000).epsilon(1e-6));
  CHECK(risk.drawn_loss == Approx(risk.loss).epsilon(1e-6));  // each such label has probability 1/2
  CHECK(std::abs(risk.drawn_error - risk.error) < 5 * std::sqrt(0.25 * 0.5 / 4000));

  const Teacher teacher = make_teacher({.classes = 4, .dimension = 6, .seed = 2});
  const BayesRisk usual = bayes_risk(teacher, make_teacher_mosaics(teacher, 5, 20000, Split::test));
  CHECK(usual.loss > 0.1);
  CHECK(usual.loss < std::log(4.0));
  CHECK(std::abs(usual.drawn_loss - usual.loss) < 0.03);  // five deviations of a mean of 20000
  CHECK(std::abs(usual.drawn_error - usual.error) < 0.02);
}

TEST_CASE("training and test mosaics have the same teacher, other patches, and do not depend on how many there are",
          "[teacher]") {
  const Teacher teacher = make_teacher({.seed = 9});
  const auto numbers = [](const Mosaics& mosaics) {
    return std::vector<float>(mosaics.images().values(0), mosaics.images().values(0) + 20 * 4 * 10);
  };
  const Mosaics train = make_teacher_mosaics(teacher, 4, 20, Split::train);
  CHECK(numbers(make_teacher_mosaics(teacher, 4, 300, Split::train)) == numbers(train));
  CHECK(numbers(make_teacher_mosaics(teacher, 4, 20, Split::test)) != numbers(train));
  const Teacher other = make_teacher({.seed = 10});
  CHECK(numbers(make_teacher_mosaics(other, 4, 20, Split::train)) != numbers(train));
  CHECK(other.focus.data()[0] != teacher.focus.data()[0]);
}

TEST_CASE("a teacher of nothing, or with a scale that is none, is refused", "[teacher]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_error<UsageError>([] { make_teacher({.classes = 0}); }, {"teacher", "at least 1", "0"});
  check_error<UsageError>([] { make_teacher({.dimension = 0}); }, {"teacher", "at least 1", "0"});
  check_error<UsageError>([&] { make_teacher({.focus_scale = nan}); }, {"teacher", "scales", "nan"});
  check_error<UsageError>([] { make_teacher({.classify_scale = -1}); }, {"teacher", "scales", "-1"});
  check_error<UsageError>([] { make_teacher_mosaics(make_teacher(), 0, 5, Split::train); }, {"teacher", "at least 1"});
  check_error<UsageError>([] { make_teacher_mosaics(make_teacher(), 5, 0, Split::train); }, {"teacher", "at least 1"});
}
