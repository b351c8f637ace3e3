#include "fcam/nn/fused.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "fcam/base/error.h"
#include "fcam/nn/network.h"
#include "fcam/nn/winograd.h"
#include "support/gradients.h"

using namespace fcam;
using namespace fcam::test;

namespace {

struct Results {
  std::vector<float> out, gradient, in_gradient;
};

// Everything that a network of these layers computes, by the kernels of one instruction set.
Results run(const std::string& isa, const std::string& layers, const Shape& input, std::size_t count, float scale = 1) {
  Network<float> network(parse_network(layers, Role::classify), Role::classify, input, 3);
  Random random(3, "test weights");
  for (float& weight : network.weights()) weight = static_cast<float>(0.3 * random.normal());
  Shape shape{count};
  shape.insert(shape.end(), input.begin(), input.end());
  const Tensor<float> x = normal_tensor<float>(shape, 5, scale), out_gradient = normal_tensor<float>({count, 3}, 7);
  Workspace<float> workspace;
  workspace.kernels = conv_kernels(isa);
  Network<float>::Activations activations;
  Results results;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (int pass = 0; pass < 2; ++pass) {  // the second time with NaN in what is not written anew
    const float* out = network.forward(count, x.data(), activations, workspace);
    results.out.assign(out, out + count * 3);
    results.gradient.assign(network.weights().size(), 0.0f);
    results.in_gradient.assign(x.size(), nan);
    network.backward(count, x.data(), activations, out_gradient.data(), results.gradient.data(),
                     results.in_gradient.data(), workspace);
    for (auto& buffer : activations.outputs) std::fill(buffer.begin(), buffer.end(), nan);
    for (auto* buffer :
         {&workspace.columns, &workspace.map, &workspace.column_gradient, &workspace.result, &workspace.weight,
          &workspace.weight_gradient, &workspace.gradient_here, &workspace.gradient_before,
          &workspace.winograd.ordered_weights, &workspace.winograd.weights, &workspace.winograd.inputs,
          &workspace.winograd.outputs, &workspace.winograd.input_gradients, &workspace.winograd.weight_gradients}) {
      std::fill(buffer->begin(), buffer->end(), nan);
    }
  }
  return results;
}

// Norm of the difference relative to the norm; NaN where there is one.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0, error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    square += std::pow(static_cast<double>(b[i]), 2);
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
  }
  return std::sqrt(error / (square + 1e-30));
}

void check_same(const std::string& layers, const Shape& input, std::size_t count) {
  const Results general = run("general", layers, input, count);
  for (const std::string& isa : conv_isas()) {
    INFO(isa << ", " << layers << ", input " << to_string(input));
    const Results fast = run(isa, layers, input, count);
    CHECK(difference(fast.out, general.out) < 2e-6);
    CHECK(difference(fast.gradient, general.gradient) < 1e-5);
    CHECK(difference(fast.in_gradient, general.in_gradient) < 1e-5);
  }
}

}  // namespace

TEST_CASE("every instruction set agrees with the general path on the presets") {
  check_same("paper", {3, 32, 32}, 2);
  check_same("lenet", {1, 28, 28}, 3);
  check_same("small", {1, 28, 28}, 3);
  check_same("small", {3, 16, 16}, 3);
}

TEST_CASE("every instruction set agrees with the general path for channels and filters that do not fill a vector") {
  for (const char* layers :
       {"conv1k3 relu pool2 conv1k3 relu", "conv5k3 relu pool2 conv7k2 relu", "conv17k3 relu conv33k2 pool2",
        "conv40k3 relu pool2 conv12k3 relu pool2", "conv64k1 relu conv3k1"}) {
    check_same(layers, {2, 13, 12}, 3);
  }
}

TEST_CASE("every instruction set agrees with the general path for every kernel, stride and padding") {
  for (const int kernel : {1, 2, 3, 5, 7}) {
    for (const int stride : {1, 2, 3}) {
      for (const int padding : {0, 1, 2}) {
        const std::string tail =
            "k" + std::to_string(kernel) + "s" + std::to_string(stride) + "p" + std::to_string(padding);
        check_same("conv6k2 relu conv5" + tail + " relu pool2", {2, 12, 11}, 2);
        check_same("conv5" + tail + " relu", {3, 9, 9}, 2);
      }
    }
  }
}

TEST_CASE("every instruction set agrees with the general path where tiles cover the map, exceed it, or take padding") {
  for (const std::size_t side : {std::size_t{10}, std::size_t{11}, std::size_t{12}, std::size_t{13}}) {
    for (const char* tail : {"k3 relu", "k3 relu pool2", "k3p1 nobias pool2", "k3p2 relu"}) {
      check_same("conv32k1 relu conv64" + std::string(tail), {2, side, side + 1}, 5);
      check_same("conv32k1 relu conv32" + std::string(tail) + " conv32k3 relu", {2, side, side}, 3);
    }
  }
  // more images than a group has, and first in the network, where planes come in
  check_same("conv32k3 relu", {32, 6, 6}, 150);
}

TEST_CASE("tiles of 4x4 serve 3x3 kernels of many channels on maps that they fit") {
  const ImageStage conv2{.channels = 32,
                         .height = 15,
                         .width = 15,
                         .filters = 64,
                         .kernel = 3,
                         .pool = 2,
                         .out_height = 6,
                         .out_width = 6};
  for (const std::string& isa : conv_isas()) {
    if (isa == "general") continue;
    const ConvKernels& kernels = *conv_kernels(isa);
    const auto with = [&](auto change) {
      ImageStage stage = conv2;
      change(stage);
      return can_use_winograd(kernels, stage);
    };
    CHECK(with([](ImageStage&) {}));
    CHECK_FALSE(with([](ImageStage& s) { s.kernel = 5; }));
    CHECK_FALSE(with([](ImageStage& s) { s.stride = 2; }));
    CHECK_FALSE(with([](ImageStage& s) { s.channels = 3; }));
    CHECK_FALSE(with([](ImageStage& s) { s.filters = 60; }));
    CHECK_FALSE(with([](ImageStage& s) { s.out_height = s.out_width = 1; }));
  }
}

TEST_CASE("the fast path leaves windows other than 2 to the general path") {
  CHECK(can_fuse({.channels = 1, .height = 8, .width = 8, .filters = 2, .kernel = 3, .pool = 2}));
  CHECK(can_fuse({.channels = 1, .height = 8, .width = 8, .filters = 2, .kernel = 3}));
  CHECK_FALSE(can_fuse({.channels = 1, .height = 8, .width = 8, .filters = 2, .kernel = 3, .pool = 3}));
  CHECK_FALSE(can_fuse({.channels = 1, .height = 8, .width = 8, .filters = 1, .pool = 2}));
  // so large with its padding that places do not fit into 32 bits
  CHECK_FALSE(can_fuse({.channels = 3, .height = 16, .width = 16, .filters = 2, .kernel = 2, .padding = 40000}));
  check_same("conv4k3 relu pool3 conv6k2 relu pool2", {1, 16, 16}, 2);
}

TEST_CASE("NaN in an image reaches the outputs of every instruction set") {
  for (const std::string& isa : conv_isas()) {
    const Results results = run(isa, "conv4k3 relu pool2", {1, 8, 8}, 1, std::numeric_limits<float>::quiet_NaN());
    CHECK(std::isnan(results.out[0]));
  }
}

TEST_CASE("the general path is always there, the best instruction set comes last, unknown ones are refused") {
  const auto isas = conv_isas();
  CHECK(isas.front() == "general");
  CHECK(conv_kernels("general") == nullptr);
  for (std::size_t i = 1; i < isas.size(); ++i) {
    REQUIRE(conv_kernels(isas[i]) != nullptr);
    CHECK(conv_kernels(isas[i])->isa == isas[i]);
    if (i > 1) CHECK(conv_kernels(isas[i])->lanes >= conv_kernels(isas[i - 1])->lanes);
  }
  CHECK_THROWS_AS(conv_kernels("x86-64-v9"), UsageError);
}
