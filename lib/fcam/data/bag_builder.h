// Bags of vectors made to order, one foreground patch a bag: for the data sets that are drawn from a formula.
#pragma once

#include <string>
#include <vector>

#include "fcam/data/mosaic.h"

namespace fcam {

/// Filled bag by bag; all numbers are zero and all patches background at first.
class BagBuilder {
 public:
  /// `count` bags of `patches` vectors of `dimension` numbers, labelled with one of `classes` classes. Throws
  /// UsageError naming `who` if one of these is zero.
  BagBuilder(const std::string& who, std::size_t dimension, std::size_t classes, std::size_t patches,
             std::size_t count);

  /// The numbers of a patch.
  float* patch(std::size_t bag, std::size_t position) { return &values_[(bag * patches_ + position) * dimension_]; }
  /// Says where the foreground of a bag stands, and its class.
  void set_foreground(std::size_t bag, std::size_t label, std::size_t position);

  /// The bags, with classes "0" to "C-1" and known positions. Base images are labelled as they are, with one class
  /// more, "background".
  Mosaics finish() &&;

 private:
  std::size_t dimension_, classes_, patches_;
  std::vector<float> values_;
  std::vector<int> patch_labels_, labels_, z_;
};

}  // namespace fcam
