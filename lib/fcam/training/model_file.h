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

/// Throws DataError as load does unless these tensors, read from the file at `path`, are the weights of such a model.
/// Tensors whose names start with none of "focus." and "classify." are left to others.
void require_weights(const Model<float>& model, const SafeTensors& tensors, const std::string& path);

/// Checks as require_weights does, then copies the values into the model.
void assign_weights(Model<float>& model, const SafeTensors& tensors, const std::string& path);

}  // namespace fcam
