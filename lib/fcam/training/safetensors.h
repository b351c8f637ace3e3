// Files of named float32 tensors in the safetensors format, which PyTorch and others read and write.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fcam/base/tensor.h"

namespace fcam {

/// One array of a file; `values` in row-major order, element_count(shape) of them.
struct NamedTensor {
  std::string name;
  Shape shape;
  std::vector<float> values;
};

/// What a file holds.
struct SafeTensors {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;  ///< in the order of their first bytes in the file

  /// The tensor of that name, null if there is none.
  const NamedTensor* find(const std::string& name) const;
};

/// Reads a whole file. Tensors are F32, or F64 rounded to float. Throws DataError if there is no such file, if it is
/// cut, damaged or not consistent in itself, or if it holds another type or a value that is not a finite float.
SafeTensors read_safetensors(const std::string& path);

/// Replaces the file at `path` atomically; equal content gives equal bytes. Bytes of names and metadata that are not
/// UTF-8 become U+FFFD. Requires names that differ from each other and from "__metadata__", and as many values as each
/// shape says. Throws WriteError.
void write_safetensors(const std::string& path, const SafeTensors& content);

}  // namespace fcam
