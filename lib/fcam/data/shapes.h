// A data set without files: small pictures of coloured shapes, drawn from the seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fcam/data/images.h"

namespace fcam {

/// `count` images of shape (3,16,16), as bytes, of ten classes (disk, ring, square, frame, triangle, diamond, plus,
/// cross, bars, stripes) in turn: position, size and the two colours are random, with slight noise. Image i is a
/// function of (seed, split, i) alone and the same on every machine. Throws UsageError if count is 0.
Images make_shapes(std::uint64_t seed, Split split, std::size_t count);

/// The same with 6000 images for training, 2000 for test.
Images make_shapes(std::uint64_t seed, Split split);

}  // namespace fcam
