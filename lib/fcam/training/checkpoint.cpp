#include "fcam/training/checkpoint.h"

#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/base/text.h"
#include "fcam/training/model_file.h"

namespace fcam {
namespace {

constexpr const char* format = "fcam checkpoint 4";

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

// The whole of a text as a number of type Number.
template <class Number>
Number metadata_number(const SafeTensors& content, const std::string& key, const std::string& path) {
  const std::string& text = metadata_text(content, key, path);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw DataError(quote(path) + ": metadata " + quote(key) + ": expected " +
                    (std::is_integral_v<Number> ? "a whole number" : "a number") + ", found " + quote(text));
  }
  return value;
}

std::string text_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : " ") + shortest(number);
  return text;
}

// The numbers of a text with one blank between them; none where it is something else.
std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char *at = text.data(), *last = at + text.size();
  for (;;) {
    double number = 0;
    const auto [end, error] = std::from_chars(at, last, number);
    if (error != std::errc() || (end != last && *end != ' ')) return {};
    numbers.push_back(number);
    if (end == last) return numbers;
    at = end + 1;
  }
}

const std::vector<float>& flat_values(const SafeTensors& content, const std::string& name, std::size_t size,
                                      const std::string& path, const std::string& advice) {
  const NamedTensor* tensor = content.find(name);
  if (tensor == nullptr || tensor->values.size() != size) {
    throw DataError(quote(path) + ": expected " + std::to_string(size) + " numbers " + quote(name) + ", found " +
                    (tensor == nullptr ? "none" : std::to_string(tensor->values.size())) + advice);
  }
  return tensor->values;
}

void add_flat(SafeTensors& content, const std::string& name, const Buffer<float>& values) {
  content.tensors.push_back({name, {values.size()}, {values.begin(), values.end()}});
}

// One number for each finished epoch.
std::vector<double> numbers_of_epochs(const SafeTensors& content, const std::string& name, const std::string& path) {
  const auto epochs = metadata_number<std::size_t>(content, "epochs", path);
  const std::string& text = metadata_text(content, name, path);
  std::vector<double> numbers = text.empty() ? std::vector<double>() : numbers_of(text);
  if (numbers.size() == epochs) return numbers;
  throw DataError(quote(path) + ": metadata " + quote(name) + ": expected " + std::to_string(epochs) +
                  " numbers, found " + quote(text.substr(0, 40)));
}

std::vector<EpochFocus> focus_of(const SafeTensors& content, const std::string& path) {
  const std::vector<double> gradients = numbers_of_epochs(content, "focus_gradient", path);
  const std::vector<double> entropies = numbers_of_epochs(content, "focus_entropy", path);
  std::vector<EpochFocus> focus;
  for (std::size_t i = 0; i < gradients.size(); ++i) focus.push_back({gradients[i], entropies[i]});
  return focus;
}

TrainerState<float> state_of(const SafeTensors& content, const Trainer<float>& trainer, const std::string& path) {
  TrainerState<float> state;
  state.epochs = metadata_number<std::size_t>(content, "epochs", path);
  state.loss = metadata_number<double>(content, "loss", path);
  state.focus = focus_of(content, path);
  if (content.metadata.contains("epoch.mosaics")) {
    state.mosaics = metadata_number<std::size_t>(content, "epoch.mosaics", path);
    state.seconds = metadata_number<double>(content, "epoch.seconds", path);
    const std::string& text = metadata_text(content, "epoch.sums", path);
    if (!state.sum.restore(numbers_of(text), trainer.model().classes())) {
      throw DataError(quote(path) + ": metadata 'epoch.sums': expected the sums of " +
                      std::to_string(trainer.model().classes()) + " classes, found " + quote(text.substr(0, 40)));
    }
  }
  if (content.metadata.contains("best.epoch")) {
    const Model<float>& model = trainer.model();
    const auto weights = [&](const char* name, const Network<float>& network) {
      const auto& values = flat_values(content, name, network.weights().size(), path, "");
      return Buffer<float>(values.begin(), values.end());
    };
    state.best = {.epoch = metadata_number<std::size_t>(content, "best.epoch", path),
                  .loss = metadata_number<double>(content, "best.loss", path),
                  .since = metadata_number<std::size_t>(content, "best.since", path),
                  .focus = weights("best.focus", model.focus),
                  .classify = weights("best.classify", model.classify)};
  }
  return state;
}

void require_identity(const SafeTensors& content, const RunIdentity& identity, const std::string& path) {
  if (const std::string& found = metadata_text(content, "run", path); found != identity.run) {
    throw DataError(quote(path) + ": expected the checkpoint of run " + quote(identity.run) + ", found one of run " +
                    quote(found.substr(0, 40)));
  }
  const auto data = content.metadata.find("data");
  if (data == content.metadata.end() || identity.data.empty() || data->second == identity.data) return;
  throw DataError(quote(path) + ": expected the checkpoint of a run on data with hash " + quote(identity.data) +
                  ", found one on data with hash " + quote(data->second.substr(0, 40)) +
                  "; have the data changed since the run began?");
}

}  // namespace

void save_checkpoint(const std::string& path, Trainer<float>& trainer, const RunIdentity& identity) {
  const TrainerState<float>& state = trainer.state();
  SafeTensors content = to_tensors(trainer.model());
  content.metadata["format"] = format;
  content.metadata["run"] = identity.run;
  if (!identity.data.empty()) content.metadata["data"] = identity.data;
  content.metadata["epochs"] = std::to_string(state.epochs);
  content.metadata["loss"] = shortest(state.loss);
  std::vector<double> gradients, entropies;
  for (const EpochFocus& epoch : state.focus) {
    gradients.push_back(epoch.gradient);
    entropies.push_back(epoch.entropy);
  }
  content.metadata["focus_gradient"] = text_of(gradients);
  content.metadata["focus_entropy"] = text_of(entropies);
  if (state.mosaics > 0) {
    content.metadata["epoch.mosaics"] = std::to_string(state.mosaics);
    content.metadata["epoch.seconds"] = shortest(state.seconds);
    content.metadata["epoch.sums"] = text_of(state.sum.numbers());
  }
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    content.metadata[network + ".steps"] = std::to_string(optimizer->steps());
    for (const auto& average : optimizer->averages()) {
      add_flat(content, tensor_name(network, average.name), average.values);
    }
  }
  if (state.best.epoch > 0) {
    content.metadata["best.epoch"] = std::to_string(state.best.epoch);
    content.metadata["best.loss"] = shortest(state.best.loss);
    content.metadata["best.since"] = std::to_string(state.best.since);
    add_flat(content, "best.focus", state.best.focus);
    add_flat(content, "best.classify", state.best.classify);
  }
  write_safetensors(path, content);
}

std::vector<EpochFocus> read_focus(const std::string& path) { return focus_of(read_safetensors(path), path); }

void load_checkpoint(const std::string& path, Trainer<float>& trainer, const RunIdentity& identity) {
  const SafeTensors content = read_safetensors(path);
  if (metadata_text(content, "format", path) != format) {
    throw DataError(quote(path) + ": expected a checkpoint of format " + quote(format) + ", found " +
                    quote(content.metadata.at("format")));
  }
  require_identity(content, identity, path);
  require_weights(trainer.model(), content, path);
  TrainerState<float> state = state_of(content, trainer, path);
  const auto values_of = [&](const std::string& network, const Optimizer<float>::Average& average) -> const auto& {
    return flat_values(content, tensor_name(network, average.name), average.values.size(), path,
                       "; is --optimizer that of the run?");
  };
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    metadata_number<std::uint64_t>(content, network + ".steps", path);
    for (const auto& average : optimizer->averages()) values_of(network, average);
  }
  assign_weights(trainer.model(), content, path);
  for (const auto& [network, optimizer] : optimizers(trainer)) {
    optimizer->set_steps(metadata_number<std::uint64_t>(content, network + ".steps", path));
    for (auto& average : optimizer->averages()) {
      const auto& values = values_of(network, average);
      average.values.assign(values.begin(), values.end());
    }
  }
  trainer.set_state(std::move(state));
}

}  // namespace fcam
