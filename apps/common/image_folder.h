// Folders of image files, a folder a class (docs/file-formats.md).
#pragma once

#include <string>
#include <vector>

#include "fcam/data/images.h"

namespace fcam::apps {

/// Whether `folder` has its own test set, in folders train and test. Throws DataError if it is no folder.
bool has_test_folder(const std::string& folder);

/// Paths of all images. Throws DataError where read_image_folder does because of what the folders hold.
std::vector<std::string> image_files(const std::string& folder);

/// The images of one split: from FOLDER/train/CLASS and FOLDER/test/CLASS; or from FOLDER/CLASS, of which the fraction
/// `holdout` is the test part (part_of_one_set). They are grey, (1,H,W), where every file of both splits is grey, else
/// (3,H,W). `resize` is "N", "HxW" or empty: all must have the size of the first. Throws UsageError for another
/// `resize`, and DataError where a class has no images, the splits have different classes or share a file, or a file
/// does not decode.
Images read_image_folder(const std::string& folder, Split split, const std::string& resize, double holdout);

}  // namespace fcam::apps
