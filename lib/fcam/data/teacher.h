// The latent variable alignment model itself as a source of data: of patches x_1..m a true focus network f* chooses
// one, z ~ softmax f*(x_1..m), and a true classification network g* its class, y ~ softmax g*(x_z) (docs/math.md,
// teacher).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fcam/data/mosaic.h"

namespace fcam {

struct TeacherOptions {
  std::size_t classes = 3;     ///< C
  std::size_t dimension = 10;  ///< D, of a patch
  std::uint64_t seed = 1;
  double focus_scale = 4;     ///< standard deviation of a score f*(x)
  double classify_scale = 4;  ///< and of a logit g*(x)_c
};

/// f* and g*, linear without biases, as networks of `linear nobias` have their weights: normal, a function of the seed.
struct Teacher {
  Tensor<double> focus;     ///< (D)
  Tensor<double> classify;  ///< (C, D)
  std::uint64_t seed = 1;   ///< of the mosaics
};

/// Throws UsageError if a number is zero or a scale negative or not finite.
Teacher make_teacher(const TeacherOptions& options = {});

/// `count` bags of m patches x ~ N(0, I), z and y as the teacher says, z known. Mosaic i is a function of teacher,
/// split and i alone. Throws UsageError if a number is zero.
Mosaics make_teacher_mosaics(const Teacher& teacher, std::size_t patches, std::size_t count, Split split);

/// How well anybody can do who knows the patches and the teacher, but neither z nor y.
struct BayesRisk {
  double loss = 0;         ///< E[-log p(y|x)] given the patches, in nats
  double error = 0;        ///< P(y is not argmax_c p(c|x)) given the patches
  double drawn_loss = 0;   ///< mean of -log p(y|x) at the labels as drawn
  double drawn_error = 0;  ///< share of the labels as drawn that are not the most likely one
};

/// Means over the mosaics. Requires patches and classes of the teacher's.
BayesRisk bayes_risk(const Teacher& teacher, const Mosaics& mosaics);

}  // namespace fcam
