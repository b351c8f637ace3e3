// Random changes of training images that leave their class as it is.
#pragma once

#include <string>
#include <vector>

#include "fcam/base/random.h"
#include "fcam/data/images.h"

namespace fcam {

/// Which changes are made.
struct Augmentation {
  bool flip = false;  ///< left and right swapped, for half of the images
  bool crop = false;  ///< shifted by up to an eighth of height and width, or one pixel; zeros where nothing is left

  explicit operator bool() const { return flip || crop; }
};

/// From names: any of "flip" and "crop", each once. Throws UsageError with the names that exist.
Augmentation parse_augmentation(const std::vector<std::string>& names);

/// Throws UsageError unless the changes can be made on items of that shape: images, (channels, height, width).
void require_images(const Augmentation& augmentation, const Shape& shape);

/// Changes one image in place, drawing from `random` what happens to it. Requires the shape of an image.
template <class T>
void augment(const Augmentation& augmentation, const Shape& shape, Random& random, T* image);

}  // namespace fcam
