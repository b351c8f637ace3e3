// The official binary versions of CIFAR-10 and CIFAR-100 (docs/file-formats.md).
#pragma once

#include <string>
#include <vector>

#include "fcam/data/images.h"

namespace fcam {

/// One split of CIFAR-10, (3,32,32), from data_batch_1.bin ... data_batch_5.bin or test_batch.bin in `folder`, gzip or
/// not, with the names of batches.meta.txt where it exists. Throws DataError if a file is missing, is not a whole
/// number of records, holds a label that is not in [0, 10), or serves both splits.
Images read_cifar10(const std::string& folder, Split split);

enum class Cifar100Labels { fine, coarse };

/// One split of CIFAR-100, (3,32,32), from train.bin or test.bin in `folder`, with its 100 fine or its 20 coarse labels
/// and the names of fine_label_names.txt or coarse_label_names.txt, or numbers without it. Throws DataError like
/// read_cifar10, for either label of a record.
Images read_cifar100(const std::string& folder, Split split, Cifar100Labels labels = Cifar100Labels::fine);

/// Paths of those files that are there: records of both splits and names of classes.
std::vector<std::string> cifar10_files(const std::string& folder);
std::vector<std::string> cifar100_files(const std::string& folder);

}  // namespace fcam
