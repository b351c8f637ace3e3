#include "fcam/training/model_file.h"

#include <algorithm>

#include "fcam/base/error.h"

namespace fcam {

SafeTensors to_tensors(const Model<float>& model) {
  SafeTensors content;
  for (const auto& weights : named_weights(model)) {
    content.tensors.push_back(
        {weights.name, weights.shape, {weights.values, weights.values + element_count(weights.shape)}});
  }
  return content;
}

void require_weights(const Model<float>& model, const SafeTensors& content, const std::string& path) {
  const auto all = named_weights(model);
  const auto option = [](const std::string& name) { return "--" + name.substr(0, name.find('.')); };
  for (const auto& weights : all) {
    const NamedTensor* found = content.find(weights.name);
    if (found == nullptr) {
      throw DataError(quote(path) + ": expected tensor " + weights.name + " of shape " + to_string(weights.shape) +
                      ", found none of that name; is " + option(weights.name) + " the network it was trained with?");
    }
    if (found->shape != weights.shape) {
      throw DataError(
          quote(path) + ": tensor " + weights.name + ": expected shape " + to_string(weights.shape) + ", found " +
          to_string(found->shape) + "; are " + option(weights.name) +
          ", the patch shape and the number of classes (--foreground, --classes) those it was trained with?");
    }
  }
  for (const NamedTensor& tensor : content.tensors) {
    const bool ours = tensor.name.starts_with("focus.") || tensor.name.starts_with("classify.");
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& w) { return w.name == tensor.name; });
    if (ours && !known) {
      throw DataError(quote(path) + ": expected only the tensors of the model, found " + quote(tensor.name) +
                      " of shape " + to_string(tensor.shape) + "; is " + option(tensor.name) +
                      " the network it was trained with?");
    }
  }
}

void assign_weights(Model<float>& model, const SafeTensors& content, const std::string& path) {
  require_weights(model, content, path);
  for (const auto& weights : named_weights(model)) {
    const auto& values = content.find(weights.name)->values;
    std::copy(values.begin(), values.end(), weights.values);
  }
}

void save(const Model<float>& model, const std::string& path) { write_safetensors(path, to_tensors(model)); }

void load(Model<float>& model, const std::string& path) { assign_weights(model, read_safetensors(path), path); }

}  // namespace fcam
