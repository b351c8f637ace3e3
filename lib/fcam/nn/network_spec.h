// Networks as text: presets by name, or a list of layers such as `conv32k3 relu pool2 fc64 relu`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fcam {

struct LayerSpec {
  enum class Kind { conv, relu, pool, fc };
  Kind kind = Kind::relu;
  std::size_t size = 0;     ///< conv: filters; fc: units, 0 for the output layer, whose units the task decides
  std::size_t kernel = 0;   ///< conv, pool: side of the window; pool moves by as much
  std::size_t stride = 1;   ///< conv
  std::size_t padding = 0;  ///< conv: zeros around the input
  bool bias = true;         ///< conv, fc

  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

/// Layers from input to output; the last is the output layer (fc with size 0).
struct NetworkSpec {
  std::vector<LayerSpec> layers;

  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

/// What a network is for: focus networks score a patch, classification networks give a logit a class.
enum class Role { focus, classify };

/// "focus" or "classify".
std::string to_string(Role role);

/// A preset (paper, lenet, small, mlp, linear; the focus role has no biases, the classify role does, as in the paper's
/// code) or a list of layers separated by spaces: `convNkK[sS][pP]`, `poolK`, `fcN`, `relu`, and `nobias` after a conv
/// or fc. The output layer is added; written out as a last `linear`, it too can have `nobias` after it.
/// Throws UsageError naming the layer that is wrong.
NetworkSpec parse_network(std::string_view text, Role role);

/// The list of layers as parse_network reads it, output layer included.
std::string to_string(const NetworkSpec& spec);

/// Names of the presets.
const std::vector<std::string>& network_presets();

}  // namespace fcam
