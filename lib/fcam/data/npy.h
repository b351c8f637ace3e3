// The npy format of numpy, read strictly, and data sets stored in it (docs/file-formats.md).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

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

/// Writes an array in C order, version 1.0. Requires element_count(shape) values; throws WriteError. Instantiated for
/// std::uint8_t, float, double and std::int64_t.
template <class T>
void write_npy(const std::string& path, const Shape& shape, const std::vector<T>& values);

/// Labelled items from x_train.npy (N,P), (N,H,W) or (N,C,H,W) and y_train.npy (N), or from x_test.npy and y_test.npy:
/// vectors (P), or images (1,H,W) or (C,H,W). Type u1 stays bytes, the others become float and must be finite. Labels
/// are integers from 0, class names the numbers up to the largest label of y_train.npy. Throws DataError.
Images read_npy_images(const std::string& folder, Split split);

/// Ready-made bags from x_*.npy (N,m,P), (N,m,H,W) or (N,m,C,H,W), their labels y_*.npy (N) as above and, where the
/// file exists, the positions of the foreground z_*.npy (N), in [0, m). Throws DataError.
Mosaics read_npy_bags(const std::string& folder, Split split);

/// Whether `folder` holds bags rather than items: it has z_train.npy, or an x_train.npy of five axes. Throws DataError
/// if there is no x_train.npy.
bool npy_holds_bags(const std::string& folder);

}  // namespace fcam
