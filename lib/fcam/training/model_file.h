// Weights of a model as a safetensors file, under the names and in the layouts of docs/file-formats.md.
#pragma once

#include <string>

#include "fcam/attention/model.h"
#include "fcam/training/safetensors.h"

namespace fcam {

/// Writes the weights of a model, atomically. Throws WriteError.
void save(const Model<float>& model, const std::string& path);

/// Reads the weights of a model that has the same networks. Throws DataError naming the tensor, both shapes and what to
/// change where the file is of another network; then the model is unchanged.
void load(Model<float>& model, const std::string& path);

/// The weights of a model as tensors.
SafeTensors to_tensors(const Model<float>& model);

/// The same from what has been read of a file; tensors whose names start with none of "focus." and "classify." are left
/// to others. `path` is for messages.
void assign_weights(Model<float>& model, const SafeTensors& tensors, const std::string& path);

}  // namespace fcam
