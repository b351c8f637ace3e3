// A test part held out of a data set that comes as one set.
#pragma once

#include <string>
#include <vector>

#include "fcam/data/images.h"

namespace fcam {

/// Indices, in ascending order, of the items that serve `split` where items with these labels come as one set: of each
/// class the given fraction for the test, rounded, at least one item and not all; the others for training. The choice
/// is a function of the labels and the fraction alone. Requires labels in [0, class_names.size()). Throws UsageError
/// unless 0 < fraction < 1, and DataError, naming `source`, if a class has a single item.
std::vector<std::size_t> part_of_one_set(const std::vector<int>& labels, const std::vector<std::string>& class_names,
                                         double fraction, Split split, const std::string& source);

}  // namespace fcam
