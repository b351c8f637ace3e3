#include "fcam/training/checkpoint.h"

#include <array>
#include <charconv>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/training/model_file.h"

namespace fcam {
namespace {

constexpr const char* format = "fcam checkpoint 1";

// The optimisers of a trainer under the names of their networks.
std::array<std::pair<std::string, Optimizer<float>*>, 2> optimizers(Trainer<float>& trainer) {
  return {{{"focus", &trainer.focus_optimizer()}, {"classify", &trainer.classify_optimizer()}}};
}

std::string tensor_name(const std::string& network, const std::string& average) {
  return "optimizer." + network + "." + average;
}

const std::string& metadata_text(const SafeTensors& content, const std::string& key, const std::string& path) {
  const auto found = content.metadata.find(key);
  if (found == content.metadata.end()) {
    throw DataError(quote(path) + ": expected a checkpoint with " + quote(key) + " in its metadata, found none");
  }
  return found->second;
}

std::uint64_t metadata_count(const SafeTensors& content, const std::string& key, const std::string& path) {
  const std::string& text = metadata_text(content, key, path);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw DataError(quote(path) + ": metadata " + quote(key) + ": expected a whole number, found " + quote(text));
  }
  return value;
}

}  // namespace

void save_checkpoint(const std::string& path, Trainer<float>& trainer) {
  SafeTensors content = to_tensors(trainer.model());
  content.metadata["format"] = format;
  content.metadata["epochs"] = std::to_string(trainer.epochs_done());
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    content.metadata[network + ".steps"] = std::to_string(optimizer->steps());
    for (const auto& average : optimizer->averages()) {
      content.tensors.push_back({tensor_name(network, average.name),
                                 {average.values.size()},
                                 {average.values.begin(), average.values.end()}});
    }
  }
  write_safetensors(path, content);
}

void load_checkpoint(const std::string& path, Trainer<float>& trainer) {
  const SafeTensors content = read_safetensors(path);
  if (metadata_text(content, "format", path) != format) {
    throw DataError(quote(path) + ": expected a checkpoint of format " + quote(format) + ", found " +
                    quote(content.metadata.at("format")));
  }
  const std::uint64_t epochs = metadata_count(content, "epochs", path);
  require_weights(trainer.model(), content, path);
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    metadata_count(content, network + ".steps", path);
    for (const auto& average : optimizer->averages()) {
      const std::string name = tensor_name(network, average.name);
      const NamedTensor* tensor = content.find(name);
      if (tensor == nullptr || tensor->values.size() != average.values.size()) {
        throw DataError(quote(path) + ": expected " + std::to_string(average.values.size()) + " numbers " +
                        quote(name) + ", found " +
                        (tensor == nullptr ? "none" : std::to_string(tensor->values.size())) +
                        "; is --optimizer that of the run?");
      }
    }
  }
  assign_weights(trainer.model(), content, path);
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    optimizer->set_steps(metadata_count(content, network + ".steps", path));
    for (auto& average : optimizer->averages()) {
      const auto& values = content.find(tensor_name(network, average.name))->values;
      average.values.assign(values.begin(), values.end());
    }
  }
  trainer.set_epochs_done(epochs);
}

}  // namespace fcam
