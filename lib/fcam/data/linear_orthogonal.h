// The linear orthogonal setting, in which the training dynamics have closed forms (docs/math.md): foreground patches
// are unit vectors, background patches lie along one more axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fcam/data/mosaic.h"

namespace fcam {

/// Defaults are those of the paper's experiments with fixed focus.
struct LinearOrthogonalOptions {
  std::size_t classes = 20;  ///< C; patches are vectors of C + 1 numbers
  std::size_t patches = 20;  ///< m
  std::size_t count = 5000;  ///< N
  std::uint64_t seed = 1;
  Split split = Split::train;
  double foreground_variance = 1e-10;  ///< of each coordinate around the unit vector
  double background_variance = 1e-2;   ///< along the last axis, around zero
};

/// N random mosaics, as ready-made bags with known positions. Label y and position z are uniform; the foreground patch
/// is e_y with normal noise in every coordinate, a background patch is normal along the last axis and zero elsewhere.
/// Mosaic i is a function of seed, split and i alone and the same on every machine. Classes are called "0" to "C-1";
/// the base images are labelled as they are, with one class more, "background". Throws UsageError if a number is zero
/// or a variance negative or not finite.
Mosaics make_linear_orthogonal(const LinearOrthogonalOptions& options = {});

/// The population that the equations of docs/math.md speak of: C mosaics, the one of class k with e_k at position 0 and
/// m - 1 background patches that are zero. The mean of a loss over them is its expectation where the variances tend to
/// zero. Throws UsageError if a number is zero.
Mosaics make_linear_population(std::size_t classes, std::size_t patches);

}  // namespace fcam
