// The npy format of numpy, read strictly, and data sets stored in it (docs/file-formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "fcam/base/file.h"
#include "fcam/data/images.h"
#include "fcam/data/mosaic.h"

namespace fcam {

/// An array in C order; the empty shape is a single number.
struct NpyArray {
  Shape shape;
  std::variant<std::vector<std::uint8_t>, std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
               std::vector<std::int64_t>>
      values;
};

/// Reads a file of version 1.0, 2.0 or 3.0 with numbers u1, f4, f8, i4 or i8 of either byte order, in C or Fortran
/// order. Throws DataError for anything else, and unless the file has exactly the size that its header announces.
NpyArray read_npy(const std::string& path);

/// Shape of the array in a file that read_npy can read, without reading the array.
Shape read_npy_shape(const std::string& path);

/// Writes an array in C order, version 1.0, part by part into a file, which is left to be committed. Instantiated for
/// std::uint8_t, float, double and std::int64_t.
template <class T>
class NpyWriter {
 public:
  NpyWriter(AtomicFile& file, const Shape& shape);
  void append(const T* values, std::size_t count);
  /// Requires that element_count(shape) values were appended.
  void finish();

 private:
  AtomicFile& file_;
  std::size_t missing_;
};

/// A whole file of element_count(shape) values.
template <class T>
void write_npy(const std::string& path, const Shape& shape, const std::vector<T>& values);

/// Data sets are read from folders that hold either x_train.npy, y_train.npy, x_test.npy and y_test.npy, or one set:
/// x_train.npy and y_train.npy without files for the test, or x.npy and y.npy. Of one set the fraction `holdout` is the
/// test part (part_of_one_set); of two x may not be the same file. The functions throw DataError where files are
/// missing, damaged or do not fit.

/// Labelled items from x (N,P), (N,H,W) or (N,C,H,W) and y (N): vectors (P), or images (1,H,W) or (C,H,W). Type u1
/// stays bytes, the others become float and must be finite. Labels are integers from 0; the names of the classes are
/// those of class_names.txt, or else the numbers up to the largest label of the training file.
Images read_npy_images(const std::string& folder, Split split, double holdout = 0.2);

/// Ready-made bags from x (N,m,P), (N,m,H,W) or (N,m,C,H,W), their labels y (N) as above and, where the file exists,
/// the positions of the foreground z (N), in [0, m).
Mosaics read_npy_bags(const std::string& folder, Split split, double holdout = 0.2);

/// Whether `folder` holds bags rather than items: it has positions of the training bags, or an x of five axes. Throws
/// DataError where only positions of the test bags say so.
bool npy_holds_bags(const std::string& folder);

/// Whether `folder` holds a test set of its own.
bool npy_has_test_set(const std::string& folder);

/// Paths of those files of a data set that are there.
std::vector<std::string> npy_files(const std::string& folder);

/// Names of the files that write_npy_bags writes, those of positions only where they are known.
inline constexpr std::array npy_export_files{"x_train.npy", "y_train.npy", "z_train.npy",    "x_test.npy",
                                             "y_test.npy",  "z_test.npy",  "class_names.txt"};

/// Throws UsageError where write_npy_bags cannot write these into a folder: it holds x.npy, y.npy or z.npy, which are
/// not of an export, or a class has a name that a list of class names cannot hold.
void check_npy_export(const std::string& folder, const Mosaics& train, const Mosaics& test);

/// Writes bags, drawn or ready-made, as a data set: x_SPLIT.npy (u1 or f4), y_SPLIT.npy and, where positions are known,
/// z_SPLIT.npy (i8) of both splits, and class_names.txt, which read_npy_bags reads back the same. An older set in the
/// folder is replaced: at every moment it is there whole, or the new one is, or there is no x_train.npy. Requires the
/// same class names in both. Throws WriteError, and UsageError as check_npy_export.
void write_npy_bags(const std::string& folder, const Mosaics& train, const Mosaics& test,
                    const std::function<void()>& on_mosaic = nullptr);

}  // namespace fcam
