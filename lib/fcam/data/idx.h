// The IDX format of MNIST and its relatives (docs/file-formats.md).
#pragma once

#include <string>
#include <vector>

#include "fcam/data/images.h"

namespace fcam {

/// Images of shape (1, height, width) with their labels, from one file of images (magic 2051) and one of labels (2049),
/// gzip or not. Throws DataError if a file is damaged or of the other kind, if the counts differ, or if a label is not
/// in [0, class_names.size()).
Images read_idx(const std::string& images_path, const std::string& labels_path, std::vector<std::string> class_names);

/// One split of Fashion-MNIST, (1,28,28), from the files train-*-ubyte or t10k-*-ubyte in `folder`, with '-' or '.'
/// before idx and with or without .gz. Throws DataError, like read_idx or with the names looked for, and if the
/// images of both splits are one file.
Images read_fashion_mnist(const std::string& folder, Split split);

/// One split of MNIST, the digits, from files of the same names.
Images read_mnist(const std::string& folder, Split split);

/// Paths of those of the four files that are there.
std::vector<std::string> mnist_files(const std::string& folder);

}  // namespace fcam
