// The marginal likelihood of the alignment model's own data tends to the model that drew them, the other losses do not.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "fcam/base/random.h"
#include "fcam/data/teacher.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr std::size_t classes = 3, dimension = 4, patches = 3;

Teacher teacher_of(std::uint64_t seed) {
  return make_teacher(
      {.classes = classes, .dimension = dimension, .seed = seed, .focus_scale = 3, .classify_scale = 3});
}

// Of what can be told from data: f* itself, and g* up to a vector common to all classes.
double distance(const Model<double>& model, const Teacher& teacher) {
  double square = 0;
  for (std::size_t d = 0; d < dimension; ++d) {
    square += std::pow(model.focus.weights()[d] - teacher.focus.data()[d], 2);
    const auto gap = [&](std::size_t c) {
      return model.classify.weights()[c * dimension + d] - teacher.classify.data()[c * dimension + d];
    };
    double mean = 0;
    for (std::size_t c = 0; c < classes; ++c) mean += gap(c) / classes;
    for (std::size_t c = 0; c < classes; ++c) square += std::pow(gap(c) - mean, 2);
  }
  return std::sqrt(square);
}

struct Settled {
  double distance, loss, risk;  // risk: the loss of the teacher on the same labels
};

// Where gradient descent on all mosaics at once settles that starts near the teacher.
Settled settle(const std::string& loss, std::uint64_t seed, std::size_t count) {
  const Teacher teacher = teacher_of(seed);
  const Mosaics mosaics = make_teacher_mosaics(teacher, patches, count, Split::train);
  Model<double> model({dimension}, classes, {.focus = "linear nobias", .classify = "linear nobias"});
  Random random(seed, "test start");
  for (std::size_t d = 0; d < dimension; ++d) {
    model.focus.weights()[d] = teacher.focus.data()[d] + 0.2 * random.normal();
  }
  for (std::size_t i = 0; i < classes * dimension; ++i) {
    model.classify.weights()[i] = teacher.classify.data()[i] + 0.2 * random.normal();
  }
  Trainer<double> trainer(
      model, named_loss<double>(loss),
      {.epochs = 150, .batch = count, .learning_rate = 0.3, .momentum = 0.9, .inference = std::nullopt});
  double last = 0;
  trainer.run(mosaics, [&](const Epoch& epoch) { last = epoch.train.loss; });
  return {distance(model, teacher), last, bayes_risk(teacher, mosaics).drawn_loss};
}

// Means over a few teachers.
Settled settle(const std::string& loss, std::size_t count) {
  Settled mean{};
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Settled one = settle(loss, seed, count);
    mean = {mean.distance + one.distance / 3, mean.loss + one.loss / 3, mean.risk + one.risk / 3};
  }
  return mean;
}

}  // namespace

TEST_CASE("marginal likelihood started near the teacher tends to it as 1/sqrt N", "[teacher]") {
  std::map<std::size_t, Settled> at;
  for (const std::size_t count : {300, 1200, 4800}) at[count] = settle("lv", count);
  CAPTURE(at[300].distance, at[1200].distance, at[4800].distance);
  CHECK(at[1200].distance < 0.75 * at[300].distance);
  CHECK(at[4800].distance < 0.75 * at[1200].distance);
  const double exponent = std::log(at[4800].distance / at[300].distance) / std::log(16.0);
  CHECK(exponent < -0.35);  // measured -0.54
  CHECK(exponent > -0.75);
  CHECK(at[4800].distance < 0.4);  // measured 1.26, 0.71, 0.28
  // It is the maximum of the likelihood: above the teacher's by parameters / 2N, 0.00125 here.
  CHECK(at[4800].loss < at[4800].risk);
  CHECK(at[4800].loss > at[4800].risk - 0.005);
}

TEST_CASE("soft attention started near the teacher settles elsewhere, hard attention leaves it far behind",
          "[teacher]") {
  const Settled soft = settle("sa", 4800), hard = settle("ha", 1200);
  CAPTURE(soft.distance, hard.distance);
  CHECK(soft.distance > 0.6);  // measured 0.89, three times that of marginal likelihood
  CHECK(hard.distance > 3);    // measured 4.3
  CHECK(soft.loss > soft.risk + 0.005);
  CHECK(hard.loss > hard.risk + 0.03);  // measured 0.068 above
}
