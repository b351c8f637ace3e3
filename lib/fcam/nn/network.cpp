#include "fcam/nn/network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "fcam/base/error.h"
#include "fcam/base/random.h"

namespace fcam {
namespace {

// Reads layers one after the other and says where one does not fit.
class ShapeReader {
 public:
  ShapeReader(Role role, const Shape& input) : role_(role), shape_(input) {}

  const Shape& shape() const { return shape_; }
  std::size_t size() const { return element_count(shape_); }
  void set(Shape shape) { shape_ = std::move(shape); }

  void require_image(const std::string& layer) const {
    if (shape_.size() != 3) fail(layer, "an image (channels x height x width)");
  }
  void require_window(const std::string& layer, std::size_t kernel, std::size_t padding) const {
    if (shape_[1] + 2 * padding < kernel || shape_[2] + 2 * padding < kernel) {
      const std::string side = std::to_string(kernel);
      fail(layer, "an input of at least " + side + "x" + side + (padding > 0 ? " after padding" : ""));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& layer, const std::string& expected) const {
    throw UsageError(to_string(role_) + " network: layer " + layer + ": expected " + expected + ", found an input of " +
                     to_string(shape_));
  }
  Role role_;
  Shape shape_;
};

const char* kind_name(LayerSpec::Kind kind) {
  switch (kind) {
    case LayerSpec::Kind::conv:
      return "conv";
    case LayerSpec::Kind::relu:
      return "relu";
    case LayerSpec::Kind::pool:
      return "pool";
    case LayerSpec::Kind::fc:
      break;
  }
  return "fc";
}

ImageStage identity_stage(const Shape& shape) {
  ImageStage stage{.channels = shape[0], .height = shape[1], .width = shape[2], .filters = shape[0]};
  stage.out_height = stage.height;
  stage.out_width = stage.width;
  return stage;
}

}  // namespace

template <class T>
void Network<T>::add_parameter(const std::string& name, Shape shape, bool is_bias, std::ptrdiff_t& offset) {
  const std::size_t before = weights_.size();
  offset = static_cast<std::ptrdiff_t>(before);
  weights_.resize(before + element_count(shape));
  std::fill(weights_.begin() + offset, weights_.end(), T(0));
  parameters_.push_back({name, std::move(shape), before, is_bias});
}

template <class T>
Network<T>::Network(const NetworkSpec& spec, Role role, Shape input, std::size_t outputs)
    : spec_(spec), role_(role), input_(std::move(input)), outputs_(outputs) {
  assert(!spec_.layers.empty() && outputs_ > 0 && !input_.empty());
  ShapeReader at(role_, input_);
  std::map<LayerSpec::Kind, int> numbers;
  for (const LayerSpec& layer : spec_.layers) {
    const std::string name = kind_name(layer.kind) + std::to_string(++numbers[layer.kind]);
    const std::string full_name = to_string(role_) + "." + name;
    Stage* const last = stages_.empty() ? nullptr : &stages_.back();
    ImageStage* const last_image = last != nullptr ? std::get_if<ImageStage>(&last->shape) : nullptr;
    switch (layer.kind) {
      case LayerSpec::Kind::conv: {
        at.require_image(name);
        at.require_window(name, layer.kernel, layer.padding);
        ImageStage stage = identity_stage(at.shape());
        stage.filters = layer.size;
        stage.kernel = layer.kernel;
        stage.stride = layer.stride;
        stage.padding = layer.padding;
        stage.out_height = (stage.height + 2 * layer.padding - layer.kernel) / layer.stride + 1;
        stage.out_width = (stage.width + 2 * layer.padding - layer.kernel) / layer.stride + 1;
        Stage& added =
            stages_.emplace_back(Stage{.name = full_name, .shape = stage, .in_size = at.size(), .out_size = 0});
        add_parameter(name + ".weight", {layer.size, stage.channels, layer.kernel, layer.kernel}, false, added.weight);
        if (layer.bias) add_parameter(name + ".bias", {layer.size}, true, added.bias);
        at.set({stage.filters, stage.out_height, stage.out_width});
        break;
      }
      case LayerSpec::Kind::relu: {
        if (last_image != nullptr) {
          last_image->relu = true;
        } else if (last != nullptr) {
          std::get<LinearStage>(last->shape).relu = true;
        } else {
          ImageStage stage = identity_stage(at.shape().size() == 3 ? at.shape() : Shape{1, 1, at.size()});
          stage.relu = true;
          stages_.push_back({.name = full_name, .shape = stage, .in_size = at.size(), .out_size = 0});
        }
        break;
      }
      case LayerSpec::Kind::pool: {
        at.require_image(name);
        at.require_window(name, layer.kernel, 0);
        if (layer.kernel == 1) break;
        if (last_image == nullptr || last_image->pool > 1) {
          stages_.push_back(
              {.name = full_name, .shape = identity_stage(at.shape()), .in_size = at.size(), .out_size = 0});
        }
        ImageStage& stage = std::get<ImageStage>(stages_.back().shape);
        stage.pool = layer.kernel;
        stage.out_height /= layer.kernel;
        stage.out_width /= layer.kernel;
        at.set({stage.filters, stage.out_height, stage.out_width});
        break;
      }
      case LayerSpec::Kind::fc: {
        const std::size_t units = layer.size == 0 ? outputs_ : layer.size;
        Stage& added = stages_.emplace_back(Stage{.name = full_name,
                                                  .shape = LinearStage{.inputs = at.size(), .units = units},
                                                  .in_size = at.size(),
                                                  .out_size = 0});
        add_parameter(name + ".weight", {units, at.size()}, false, added.weight);
        if (layer.bias) add_parameter(name + ".bias", {units}, true, added.bias);
        at.set({units});
        break;
      }
    }
    if (!stages_.empty()) stages_.back().out_size = at.size();
  }
  assert(at.size() == outputs_);
  // Planes come in, and planes are what a matrix product takes: PyTorch's order of its inputs.
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (auto* image = std::get_if<ImageStage>(&stages_[i].shape)) {
      image->in_planes = i == 0;
      image->out_planes = i + 1 == stages_.size() || std::holds_alternative<LinearStage>(stages_[i + 1].shape);
    }
  }
}

template <class T>
double Network<T>::flops() const {
  double total = 0;
  for (const Stage& stage : stages_) total += stage.flops(1);
  return total;
}

template <class T>
void Network<T>::initialise(std::uint64_t seed) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    T* const weight = weights_.data() + parameter.offset;
    const std::size_t size = element_count(parameter.shape);
    if (parameter.is_bias) {
      std::fill_n(weight, size, T(0));
      continue;
    }
    const std::size_t window = size / (parameter.shape[0] * parameter.shape[1]);
    const auto fans = static_cast<double>((parameter.shape[0] + parameter.shape[1]) * window);
    const double deviation = std::sqrt(2 / fans);
    Random random(seed, "weights/" + to_string(role_), i);
    for (std::size_t k = 0; k < size; ++k) weight[k] = static_cast<T>(deviation * random.normal());
  }
}

template <class T>
const T* Network<T>::forward(std::size_t count, const T* in, Activations& activations, Workspace<T>& workspace) const {
  activations.outputs.resize(stages_.size());
  activations.winners.resize(stages_.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const T* const weight = weights_.data() + std::max<std::ptrdiff_t>(stage.weight, 0);
    const T* const bias = stage.bias >= 0 ? weights_.data() + stage.bias : nullptr;
    Buffer<T>& out = activations.outputs[i];
    out.resize(count * stage.out_size + ConvKernels::slack);
    const ProfileTimer timer(workspace.profile, stage.name, "forward", stage.flops(count));
    if (const auto* image = std::get_if<ImageStage>(&stage.shape)) {
      activations.winners[i].resize(image->pool > 1 ? count * stage.out_size : 0);
      fcam::forward(*image, count, in, weight, bias, out.data(), activations.winners[i].data(), workspace);
    } else {
      fcam::forward(std::get<LinearStage>(stage.shape), count, in, weight, bias, out.data());
    }
    in = out.data();
  }
  return in;
}

template <class T>
void Network<T>::backward(std::size_t count, const T* in, const Activations& activations, const T* out_gradient,
                          T* gradient, T* in_gradient, Workspace<T>& workspace) const {
  Buffer<T>&here = workspace.gradient_here, &before = workspace.gradient_before;
  here.assign(out_gradient, out_gradient + count * outputs_);
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Stage& stage = stages_[i];
    const T* const stage_in = i > 0 ? activations.outputs[i - 1].data() : in;
    const T* const weight = weights_.data() + std::max<std::ptrdiff_t>(stage.weight, 0);
    if (i > 0) before.resize(count * stage.in_size + ConvKernels::slack);
    const auto part = [&](std::ptrdiff_t offset) {
      return gradient != nullptr && offset >= 0 ? gradient + offset : nullptr;
    };
    const StageGradients<T> gradients{
        .weight = part(stage.weight), .bias = part(stage.bias), .in = i > 0 ? before.data() : in_gradient};
    const T* const out = activations.outputs[i].data();
    const double products = (gradients.weight != nullptr ? 1 : 0) + (gradients.in != nullptr ? 1 : 0);
    const ProfileTimer timer(workspace.profile, stage.name, "backward", products * stage.flops(count));
    if (const auto* image = std::get_if<ImageStage>(&stage.shape)) {
      fcam::backward(*image, count, stage_in, weight, out, activations.winners[i].data(), here.data(), gradients,
                     workspace);
    } else {
      fcam::backward(std::get<LinearStage>(stage.shape), count, stage_in, weight, out, here.data(), gradients);
    }
    std::swap(here, before);
  }
}

template <class T>
Var<T> apply(Application<T>& application, Var<T> x) {
  const Network<T>& network = *application.network;
  const auto& in_shape = x.value().shape();
  const std::size_t item_axes = network.input_shape().size();
  assert(in_shape.size() >= item_axes);
  assert(std::equal(network.input_shape().begin(), network.input_shape().end(),
                    in_shape.end() - static_cast<std::ptrdiff_t>(item_axes)));
  TensorShape shape(in_shape.begin(), in_shape.end() - static_cast<std::ptrdiff_t>(item_axes));
  if (network.role() == Role::classify || shape.empty()) shape.push_back(network.outputs());

  Node<T>& node = x.tape().record({x}, shape, [](Node<T>& n) {
    auto& used = *static_cast<Application<T>*>(n.state);
    Node<T>& input = n.input(0);
    const std::size_t count = n.value().size() / used.network->outputs();
    // The input gradient is assigned; where another one has come before, it is taken aside and added.
    Buffer<T> earlier;
    if (input.needs_gradient) {
      if (input.reached) earlier.assign(input.gradient.data(), input.gradient.data() + input.gradient.size());
      input.gradient.resize(input.value().shape());
    }
    used.network->backward(count, input.value().data(), used.activations, n.gradient.data(),
                           used.gradient != nullptr ? used.gradient->data() : nullptr,
                           input.needs_gradient ? input.gradient.data() : nullptr, *used.workspace);
    for (std::size_t i = 0; i < earlier.size(); ++i) input.gradient.data()[i] += earlier[i];
    if (input.needs_gradient) input.reached = true;
  });
  node.state = &application;
  node.needs_gradient = node.needs_gradient || application.gradient != nullptr;
  const std::size_t count = node.own_value.size() / network.outputs();
  const T* out = network.forward(count, x.value().data(), application.activations, *application.workspace);
  std::copy_n(out, node.own_value.size(), node.own_value.data());
  return Var<T>(node);
}

#define FCAM_INSTANTIATE(T)  \
  template class Network<T>; \
  template Var<T> apply(Application<T>&, Var<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
