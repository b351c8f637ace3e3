// Compiled with -ffp-contract=off, as all that draws data.
#include "fcam/data/teacher.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"
#include "fcam/data/bag_builder.h"

namespace fcam {
namespace {

constexpr const char* who = "teacher";

double dot(const double* weights, const float* x, std::size_t size) {
  double total = 0;
  for (std::size_t d = 0; d < size; ++d) total += weights[d] * static_cast<double>(x[d]);
  return total;
}

Tensor<double> normal_weights(const TensorShape& shape, double deviation, std::uint64_t seed, const char* stream) {
  Tensor<double> weights;
  weights.resize(shape);
  Random random(seed, stream);
  for (std::size_t i = 0; i < weights.size(); ++i) weights.data()[i] = deviation * random.normal();
  return weights;
}

// Turns logarithms of weights into probabilities that sum to 1.
void normalise(std::vector<double>& log_weights) {
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  double total = 0;
  for (double& weight : log_weights) total += weight = std::exp(weight - largest);
  for (double& weight : log_weights) weight /= total;
}

// f* and g* on one patch after the other.
class Lesson {
 public:
  explicit Lesson(const Teacher& teacher)
      : teacher_(teacher), dimension_(teacher.focus.size()), logits_(teacher.classify.shape()[0]) {}

  double score(const float* x) const { return dot(teacher_.focus.data(), x, dimension_); }
  /// Valid until the next call.
  std::vector<double>& logits(const float* x) {
    for (std::size_t c = 0; c < logits_.size(); ++c) {
      logits_[c] = dot(teacher_.classify.data() + c * dimension_, x, dimension_);
    }
    return logits_;
  }

 private:
  const Teacher& teacher_;
  std::size_t dimension_;
  std::vector<double> logits_;
};

}  // namespace

Teacher make_teacher(const TeacherOptions& options) {
  if (options.classes == 0 || options.dimension == 0) {
    throw UsageError(std::string(who) + ": expected at least 1 class and dimension, found " +
                     std::to_string(options.classes) + " and " + std::to_string(options.dimension));
  }
  for (const double scale : {options.focus_scale, options.classify_scale}) {
    if (std::isfinite(scale) && scale >= 0) continue;
    throw UsageError(std::string(who) + ": expected scales from 0 up, found " + shortest(scale));
  }
  const double share = 1 / std::sqrt(static_cast<double>(options.dimension));
  return {.focus = normal_weights({options.dimension}, options.focus_scale * share, options.seed, "teacher/focus"),
          .classify = normal_weights({options.classes, options.dimension}, options.classify_scale * share, options.seed,
                                     "teacher/classify"),
          .seed = options.seed};
}

Mosaics make_teacher_mosaics(const Teacher& teacher, std::size_t patches, std::size_t count, Split split) {
  const std::size_t dimension = teacher.focus.size();
  BagBuilder bags(who, dimension, teacher.classify.shape()[0], patches, count);
  Lesson lesson(teacher);
  std::vector<double> scores(patches);
  for (std::size_t i = 0; i < count; ++i) {
    Random random(teacher.seed, split == Split::train ? "teacher/train" : "teacher/test", i);
    for (std::size_t j = 0; j < patches; ++j) {
      float* x = bags.patch(i, j);
      for (std::size_t d = 0; d < dimension; ++d) x[d] = static_cast<float>(random.normal());
      scores[j] = lesson.score(x);
    }
    const std::size_t z = random.categorical(scores);
    bags.set_foreground(i, random.categorical(lesson.logits(bags.patch(i, z))), z);
  }
  return std::move(bags).finish();
}

BayesRisk bayes_risk(const Teacher& teacher, const Mosaics& mosaics) {
  const std::size_t classes = teacher.classify.shape()[0];
  assert(mosaics.shape() == Shape{teacher.focus.size()} && mosaics.classes() == classes);
  Lesson lesson(teacher);
  std::vector<double> a(mosaics.patches()), p(classes);
  Mosaic mosaic;
  BayesRisk risk;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    mosaics.draw(i, mosaic);
    const auto patch = [&](std::size_t j) { return mosaics.images().values(mosaic.images[j]); };
    for (std::size_t j = 0; j < a.size(); ++j) a[j] = lesson.score(patch(j));
    normalise(a);
    std::fill(p.begin(), p.end(), 0.0);
    for (std::size_t j = 0; j < a.size(); ++j) {
      std::vector<double>& of_patch = lesson.logits(patch(j));
      normalise(of_patch);
      for (std::size_t c = 0; c < classes; ++c) p[c] += a[j] * of_patch[c];
    }
    for (const double each : p) risk.loss -= each > 0 ? each * std::log(each) : 0;
    const auto likeliest = std::max_element(p.begin(), p.end());
    risk.error += 1 - *likeliest;
    risk.drawn_loss -= std::log(p[static_cast<std::size_t>(mosaic.label)]);
    risk.drawn_error += mosaic.label != likeliest - p.begin();
  }
  const auto n = static_cast<double>(mosaics.count());
  return {risk.loss / n, risk.error / n, risk.drawn_loss / n, risk.drawn_error / n};
}

}  // namespace fcam
