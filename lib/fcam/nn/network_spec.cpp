#include "fcam/nn/network_spec.h"

#include <array>
#include <charconv>

#include "fcam/base/error.h"

namespace fcam {
namespace {

struct Preset {
  std::string_view name, layers;
};

constexpr std::array<Preset, 5> presets{{
    {"paper", "conv32k3 relu pool2 conv64k3 relu pool2 conv64k3 relu fc512 relu fc64 relu fc10 relu linear"},
    {"lenet", "conv6k5 relu pool2 conv16k5 relu pool2 fc120 relu fc84 relu fc10 relu linear"},
    {"small", "conv16k3 relu pool2 conv32k3 relu pool2 fc64 relu linear"},
    {"mlp", "fc128 relu fc64 relu linear"},
    {"linear", "linear"},
}};

constexpr std::size_t largest_pool = 16;         // the place of a maximum in its window is kept in a byte
constexpr std::size_t largest_number = 1 << 20;  // keeps every product of sizes far from overflow

constexpr std::string_view grammar =
    "expected convNkK[sS][pP], poolK, fcN, relu, nobias after a conv or fc, or a last linear";

// Reads one layer word from left to right.
class WordReader {
 public:
  explicit WordReader(std::string_view word) : rest_(word) {}

  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  bool take_number(std::size_t least, std::size_t& number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc() || number < least || number > largest_number) return false;
    if (rest_[0] == '0' && end != rest_.data() + 1) return false;  // a zero in front
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// False where the word is no layer.
bool parse_layer(std::string_view word, LayerSpec& layer) {
  WordReader reader(word);
  if (word == "relu") {
    layer.kind = LayerSpec::Kind::relu;
    return true;
  }
  if (word == "linear") {
    layer.kind = LayerSpec::Kind::fc;
    return true;
  }
  if (reader.take("conv")) {
    layer.kind = LayerSpec::Kind::conv;
    if (!reader.take_number(1, layer.size) || !reader.take("k") || !reader.take_number(1, layer.kernel)) return false;
    if (reader.take("s") && !reader.take_number(1, layer.stride)) return false;
    if (reader.take("p") && !reader.take_number(0, layer.padding)) return false;
    return reader.done();
  }
  if (reader.take("pool")) {
    layer.kind = LayerSpec::Kind::pool;
    return reader.take_number(1, layer.kernel) && reader.done();
  }
  if (reader.take("fc")) {
    layer.kind = LayerSpec::Kind::fc;
    return reader.take_number(1, layer.size) && reader.done();
  }
  return false;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view space = " \t\n\r";
  for (std::size_t begin; (begin = text.find_first_not_of(space)) != std::string_view::npos;) {
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find_first_of(space)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

bool has_weights(const LayerSpec& layer) {
  return layer.kind == LayerSpec::Kind::conv || layer.kind == LayerSpec::Kind::fc;
}

std::string to_string(const LayerSpec& layer) {
  std::string text;
  switch (layer.kind) {
    case LayerSpec::Kind::relu:
      return "relu";
    case LayerSpec::Kind::pool:
      return "pool" + std::to_string(layer.kernel);
    case LayerSpec::Kind::conv:
      text = "conv" + std::to_string(layer.size) + "k" + std::to_string(layer.kernel);
      if (layer.stride != 1) text += "s" + std::to_string(layer.stride);
      if (layer.padding != 0) text += "p" + std::to_string(layer.padding);
      break;
    case LayerSpec::Kind::fc:
      text = layer.size == 0 ? std::string("linear") : "fc" + std::to_string(layer.size);
      break;
  }
  return layer.bias ? text : text + " nobias";
}

}  // namespace

std::string to_string(Role role) { return role == Role::focus ? "focus" : "classify"; }

const std::vector<std::string>& network_presets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Preset& preset : presets) result.emplace_back(preset.name);
    return result;
  }();
  return names;
}

NetworkSpec parse_network(std::string_view text, Role role) {
  const std::string who = to_string(role) + " network " + quote(text);
  std::vector<std::string_view> words = words_of(text);
  if (words.empty()) throw UsageError(who + ": expected a preset or a list of layers, found nothing");

  bool default_bias = true;
  if (words.size() == 1) {
    for (const Preset& preset : presets) {
      if (words[0] != preset.name) continue;
      words = words_of(preset.layers);
      default_bias = role == Role::classify;
      break;
    }
  }

  NetworkSpec spec;
  bool has_output = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string where = who + ": layer " + std::to_string(i + 1) + " " + quote(words[i]);
    if (words[i] == "nobias") {
      if (spec.layers.empty() || !has_weights(spec.layers.back())) {
        throw UsageError(where + ": expected it after a conv or fc, found it " +
                         (spec.layers.empty() ? "first" : "after " + to_string(spec.layers.back())));
      }
      spec.layers.back().bias = false;
      continue;
    }
    if (has_output) throw UsageError(where + ": expected nothing after the output layer linear");
    LayerSpec layer;
    if (!parse_layer(words[i], layer)) {
      const bool looks_like_layer = words[i].find_first_of("0123456789") != std::string_view::npos;
      if (words.size() == 1 && !looks_like_layer)
        throw UsageError(who + ": " + unknown_name(words[0], network_presets()) + "; or a list of layers");
      throw UsageError(where + ": " + std::string(grammar));
    }
    if (layer.kind == LayerSpec::Kind::pool && layer.kernel > largest_pool) {
      throw UsageError(where + ": expected a window of at most " + std::to_string(largest_pool));
    }
    if (has_weights(layer)) layer.bias = default_bias;
    has_output = words[i] == "linear";
    spec.layers.push_back(layer);
  }
  if (!has_output) spec.layers.push_back({.kind = LayerSpec::Kind::fc, .bias = default_bias});
  return spec;
}

std::string to_string(const NetworkSpec& spec) {
  std::string text;
  for (const LayerSpec& layer : spec.layers) {
    if (!text.empty()) text += ' ';
    text += to_string(layer);
  }
  return text;
}

}  // namespace fcam
