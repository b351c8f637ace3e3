// Small data sets in the layout of CIFAR-100.
#pragma once

#include <cstdint>
#include <string>

#include "fcam/base/random.h"
#include "support/temporary_folder.h"

namespace fcam::test {

/// Writes train.bin, test.bin and both lists of names: `per_class` images of each of the 100 classes for training, one
/// for the test, in which every class has a colour of its own; class c is in the coarse class c / 5.
inline void write_cifar100(const std::string& folder, std::size_t per_class) {
  for (const std::string split : {"train", "test"}) {
    std::string bytes;
    Random random(1, "cifar100 " + split);
    for (std::size_t i = 0; i < (split == "train" ? per_class : 1) * 100; ++i) {
      const std::size_t c = i % 100;
      bytes += static_cast<char>(c / 5);
      bytes += static_cast<char>(c);
      for (const std::size_t level : {c % 5, c / 5 % 5, c / 25}) {
        for (int k = 0; k < 32 * 32; ++k) bytes += static_cast<char>(25 + 50 * level + random.below(20));
      }
    }
    write_file(folder + "/" + split + ".bin", bytes);
  }
  std::string fine, coarse;
  for (int c = 0; c < 100; ++c) fine += "fine_" + std::to_string(c) + "\n";
  for (int c = 0; c < 20; ++c) coarse += "coarse_" + std::to_string(c) + "\n";
  write_file(folder + "/fine_label_names.txt", fine);
  write_file(folder + "/coarse_label_names.txt", coarse);
}

}  // namespace fcam::test
