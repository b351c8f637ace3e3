#include "fcam/data/bag_builder.h"

#include <utility>

#include "fcam/base/error.h"
#include "fcam/data/input.h"

namespace fcam {

BagBuilder::BagBuilder(const std::string& who, std::size_t dimension, std::size_t classes, std::size_t patches,
                       std::size_t count)
    : dimension_(dimension), classes_(classes), patches_(patches) {
  if (dimension == 0 || classes == 0 || patches == 0 || count == 0) {
    throw UsageError(who + ": expected at least 1 dimension, class, patch and mosaic, found " +
                     std::to_string(dimension) + ", " + std::to_string(classes) + ", " + std::to_string(patches) +
                     " and " + std::to_string(count));
  }
  values_.resize(saturating_count({count, patches, dimension}));
  patch_labels_.assign(count * patches, static_cast<int>(classes));
  labels_.resize(count);
  z_.resize(count);
}

void BagBuilder::set_foreground(std::size_t bag, std::size_t label, std::size_t position) {
  labels_[bag] = static_cast<int>(label);
  z_[bag] = static_cast<int>(position);
  patch_labels_[bag * patches_ + position] = static_cast<int>(label);
}

Mosaics BagBuilder::finish() && {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < classes_; ++c) names.push_back(std::to_string(c));
  std::vector<std::string> patch_names = names;
  patch_names.emplace_back("background");
  Images images({dimension_}, std::move(values_), std::move(patch_labels_), std::move(patch_names));
  return Mosaics::from_bags(std::move(images), patches_, std::move(labels_), std::move(z_), std::move(names));
}

}  // namespace fcam
