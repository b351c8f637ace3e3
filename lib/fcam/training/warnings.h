// What goes wrong in a training without an error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fcam/training/log.h"

namespace fcam {

/// Looks at one epoch after another and says once each: that the focus stays uniform, and that nearly all mosaics are
/// predicted to be of one class though they are not. Both once they have been so for a number of epochs in a row.
class Warnings {
 public:
  /// For mosaics of so many patches and classes of these names. Requires epochs >= 1.
  Warnings(std::size_t patches, std::vector<std::string> class_names, std::size_t epochs);

  /// What there is to say after this epoch, from its train metrics; each a line without a final line feed.
  std::vector<std::string> see(const Epoch& epoch);

 private:
  std::size_t patches_, epochs_;
  std::vector<std::string> class_names_;
  std::size_t uniform_epochs_ = 0, one_class_epochs_ = 0;
  bool said_uniform_ = false, said_one_class_ = false;
};

}  // namespace fcam
