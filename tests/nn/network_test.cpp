#include "fcam/nn/network.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "fcam/base/error.h"
#include "support/networks.h"

using namespace fcam;
using namespace fcam::test;

namespace {

std::string shape_error(const std::string& layers, const Shape& input) {
  try {
    Network<float>(parse_network(layers, Role::focus), Role::focus, input, 1);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> outputs_of(const Network<double>& network, const std::vector<double>& x, std::size_t count) {
  Network<double>::Activations activations;
  Workspace<double> workspace;
  const double* out = network.forward(count, x.data(), activations, workspace);
  return {out, out + count * network.outputs()};
}

}  // namespace

TEST_CASE(
    "gradients of convolutions: every kernel, stride and padding, also where the window does not divide the input") {
  for (const int kernel : {1, 2, 3, 5, 7}) {
    for (const int stride : {1, 2, 3}) {
      for (const int padding : {0, 1, 2}) {
        const std::string layer =
            "conv3k" + std::to_string(kernel) + "s" + std::to_string(stride) + "p" + std::to_string(padding);
        CHECK(check_network(layer, {2, 8, 7}) == "");
      }
    }
  }
}

TEST_CASE("gradients of a convolution without bias") { CHECK(check_network("conv3k3 nobias", {2, 6, 6}) == ""); }

TEST_CASE("gradients of a convolution whose padding is wider than its kernel") {
  CHECK(check_network("conv2k1p2", {1, 3, 3}) == "");
  CHECK(check_network("conv2k2s3p3", {1, 2, 2}) == "");
}

TEST_CASE("gradients of pooling, also where the window does not divide the input") {
  for (const char* layers : {"pool2", "pool3", "pool5", "pool1"}) CHECK(check_network(layers, {2, 7, 8}) == "");
}

TEST_CASE("gradients of ReLU on images, on vectors, and before anything else") {
  CHECK(check_network("relu", {6}) == "");
  CHECK(check_network("relu", {2, 3, 3}) == "");
  CHECK(check_network("relu fc5 relu", {6}) == "");
}

TEST_CASE("gradients of convolution, ReLU and pooling as one stage") {
  for (const char* layers :
       {"conv3k3 relu pool2", "conv3k3 pool2 relu", "conv3k3 pool2", "conv3k3 relu", "conv3k2s2p1 relu pool3",
        "conv2k3 relu pool2 pool2", "conv2k3 relu relu pool2 relu conv3k2 relu"}) {
    CHECK(check_network(layers, {2, 9, 10}) == "");
  }
}

TEST_CASE("gradients of fully connected layers") {
  for (const char* layers : {"linear", "linear nobias", "fc5 linear", "fc5 nobias relu fc3 relu"}) {
    CHECK(check_network(layers, {7}) == "");
    CHECK(check_network(layers, {1, 2, 3}) == "");
  }
}

TEST_CASE("gradients of the presets") {
  CHECK(check_network("mlp", {5}, 2) == "");
  CHECK(check_network("small", {1, 12, 12}, 1) == "");
}

TEST_CASE("gradients of more images than one block holds") {
  CHECK(check_network("conv2k3 relu pool2", {1, 5, 5}, 150) == "");
}

TEST_CASE("a convolution has the values of its definition") {
  // 1 channel 3x3, one 2x2 filter, padding 1: checked by hand.
  Network<double> network(parse_network("conv1k2p1 linear nobias", Role::focus), Role::focus, {1, 3, 3}, 16);
  const std::vector<double> filter{1, 2, 3, 4};
  std::copy(filter.begin(), filter.end(), network.weights().begin());
  network.weights()[4] = 0.5;                                              // bias
  for (std::size_t i = 0; i < 16; ++i) network.weights()[5 + i * 17] = 1;  // the output layer passes the map on
  const auto out = outputs_of(network, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
  CHECK(out == std::vector<double>{4.5, 11.5, 18.5, 9.5, 18.5, 37.5, 47.5, 21.5, 36.5, 67.5, 77.5, 33.5, 14.5, 23.5,
                                   26.5, 9.5});
}

TEST_CASE("pooling takes the first of equal maxima and sends the whole gradient there, none to the dropped border") {
  Network<double> network(parse_network("pool2", Role::focus), Role::focus, {1, 3, 3}, 1);
  network.weights()[0] = 1;
  const std::vector<double> x{5, 5, 9, 5, 1, 9, 9, 9, 9};
  Network<double>::Activations activations;
  Workspace<double> workspace;
  CHECK(*network.forward(1, x.data(), activations, workspace) == 5);
  std::vector<double> gradient(network.weights().size()), x_gradient(9, std::nan(""));
  const double one = 1;
  network.backward(1, x.data(), activations, &one, gradient.data(), x_gradient.data(), workspace);
  CHECK(x_gradient == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("ReLU passes nothing back at exactly zero") {
  Network<double> network(parse_network("relu", Role::focus), Role::focus, {3}, 1);
  std::fill(network.weights().begin(), network.weights().end(), 1.0);
  const std::vector<double> x{-1, 0, 2};
  Network<double>::Activations activations;
  Workspace<double> workspace;
  network.forward(1, x.data(), activations, workspace);
  std::vector<double> gradient(network.weights().size()), x_gradient(3, std::nan(""));
  const double one = 1;
  network.backward(1, x.data(), activations, &one, gradient.data(), x_gradient.data(), workspace);
  CHECK(x_gradient == std::vector<double>{0, 0, 1});
}

TEST_CASE("NaN passes through ReLU and pooling") {
  Network<double> network(parse_network("relu pool2", Role::focus), Role::focus, {1, 2, 2}, 1);
  network.weights()[0] = 1;
  for (std::size_t place = 0; place < 4; ++place) {
    std::vector<double> x{1, 2, 3, 4};
    x[place] = std::nan("");
    CHECK(std::isnan(outputs_of(network, x, 1)[0]));
  }
}

TEST_CASE("parameter gradients are added to what is there") {
  Network<double> network = random_network("conv2k3 relu fc3 relu", {1, 5, 5}, 2);
  const Tensor<double> x = normal_tensor({2, 1, 5, 5});
  const std::vector<double> out_gradient{1, -2, 0.5, 3};
  Network<double>::Activations activations;
  Workspace<double> workspace;
  network.forward(2, x.data(), activations, workspace);
  std::vector<double> once(network.weights().size(), 0.0), onto(network.weights().size(), 10.0);
  network.backward(2, x.data(), activations, out_gradient.data(), once.data(), nullptr, workspace);
  network.backward(2, x.data(), activations, out_gradient.data(), onto.data(), nullptr, workspace);
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(onto[i] == Approx(once[i] + 10).epsilon(1e-14));
}

TEST_CASE("outputs of an image do not depend on the images beside it") {
  const Network<double> network = random_network("conv4k3 relu pool2 fc5 relu", {1, 8, 8}, 3);
  const Tensor<double> x = normal_tensor({40, 1, 8, 8});
  const auto together = outputs_of(network, {x.data(), x.data() + x.size()}, 40);
  for (std::size_t i = 0; i < 40; i += 13) {
    const auto alone = outputs_of(network, {x.data() + i * 64, x.data() + (i + 1) * 64}, 1);
    for (std::size_t c = 0; c < 3; ++c) CHECK(alone[c] == Approx(together[i * 3 + c]).epsilon(1e-12));
  }
}

TEST_CASE("parameters are named per kind in order, with PyTorch's shapes") {
  const Network<float> network(parse_network("conv4k3 nobias relu conv6k2 pool2 fc7 relu", Role::classify),
                               Role::classify, {3, 10, 10}, 5);
  std::vector<std::string> names;
  std::vector<Shape> shapes;
  for (const Parameter& parameter : network.parameters()) {
    names.push_back(parameter.name);
    shapes.push_back(parameter.shape);
  }
  CHECK(names == std::vector<std::string>{"conv1.weight", "conv2.weight", "conv2.bias", "fc1.weight", "fc1.bias",
                                          "fc2.weight", "fc2.bias"});
  CHECK(shapes == std::vector<Shape>{{4, 3, 3, 3}, {6, 4, 2, 2}, {6}, {7, 54}, {7}, {5, 7}, {5}});
}

TEST_CASE("a layer that does not fit is named with both shapes") {
  CHECK(shape_error("conv4k3", {7}) ==
        "focus network: layer conv1: expected an image (channels x height x width), found an input of 7");
  CHECK(shape_error("conv4k3 relu conv4k9", {1, 9, 9}) ==
        "focus network: layer conv2: expected an input of at least 9x9, found an input of 4x7x7");
  CHECK(shape_error("fc8 pool2", {1, 9, 9}) ==
        "focus network: layer pool1: expected an image (channels x height x width), found an input of 8");
  CHECK(shape_error("pool4", {1, 3, 9}) ==
        "focus network: layer pool1: expected an input of at least 4x4, found an input of 1x3x9");
  CHECK(shape_error("conv4k9p1", {1, 5, 5}) ==
        "focus network: layer conv1: expected an input of at least 9x9 after padding, found an input of 1x5x5");
}

TEST_CASE("initial weights are Xavier normal, biases zero, and depend on the seed and the role alone") {
  const NetworkSpec spec = parse_network("conv8k3 relu fc256 relu fc200", Role::classify);
  Network<double> network(spec, Role::classify, {4, 10, 10}, 3);
  network.initialise(1);
  for (const Parameter& parameter : network.parameters()) {
    const double* weight = network.weights().data() + parameter.offset;
    const std::size_t size = element_count(parameter.shape);
    double square = 0;
    for (std::size_t i = 0; i < size; ++i) square += weight[i] * weight[i];
    if (parameter.is_bias) {
      CHECK(square == 0);
    } else {
      const auto window = static_cast<double>(size / (parameter.shape[0] * parameter.shape[1]));
      const double variance = 2 / (static_cast<double>(parameter.shape[0] + parameter.shape[1]) * window);
      CHECK(square / static_cast<double>(size) ==
            Approx(variance).epsilon(4.5 * std::sqrt(2 / static_cast<double>(size))));
    }
  }
  Network<double> again(spec, Role::classify, {4, 10, 10}, 3), other(spec, Role::classify, {4, 10, 10}, 3);
  again.initialise(1);
  other.initialise(2);
  CHECK(again.weights() == network.weights());
  CHECK(other.weights() != network.weights());
}

TEST_CASE("the operations of a network are those of its products with weights", "[nn]") {
  const auto flops = [](const std::string& layers, const Shape& input) {
    return Network<float>(parse_network(layers, Role::focus), Role::focus, input, 1).flops();
  };
  CHECK(flops("linear", {21}) == 2 * 21);
  CHECK(flops("fc20 relu", {21}) == 2 * (21 * 20 + 20));
  // Six by six positions of eight filters over 3 x 3 x 2 inputs; pooled to 3 x 3, one output.
  CHECK(flops("conv8k3p1 relu pool2", {2, 6, 6}) == 2 * (36 * 8 * 18 + 8 * 9));
}
