#include "fcam/nn/network_spec.h"

#include <catch2/catch.hpp>

#include "fcam/base/error.h"

using namespace fcam;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_network(text, Role::classify);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a list of layers becomes a specification with the output layer added") {
  const NetworkSpec spec = parse_network("conv32k3s2p1 relu pool2 fc64 nobias relu", Role::focus);
  REQUIRE(spec.layers.size() == 6);
  using Kind = LayerSpec::Kind;
  CHECK(spec.layers[0] == LayerSpec{.kind = Kind::conv, .size = 32, .kernel = 3, .stride = 2, .padding = 1});
  CHECK(spec.layers[1] == LayerSpec{.kind = Kind::relu});
  CHECK(spec.layers[2] == LayerSpec{.kind = Kind::pool, .kernel = 2});
  CHECK(spec.layers[3] == LayerSpec{.kind = Kind::fc, .size = 64, .bias = false});
  CHECK(spec.layers[5] == LayerSpec{.kind = Kind::fc, .size = 0});
}

TEST_CASE("focus presets have no biases, classification presets do") {
  for (const std::string& name : network_presets()) {
    for (const LayerSpec& layer : parse_network(name, Role::focus).layers) {
      if (layer.kind == LayerSpec::Kind::conv || layer.kind == LayerSpec::Kind::fc) CHECK_FALSE(layer.bias);
    }
    for (const LayerSpec& layer : parse_network(name, Role::classify).layers) CHECK(layer.bias);
  }
}

TEST_CASE("the paper's preset is the paper's network") {
  CHECK(to_string(parse_network("paper", Role::classify)) ==
        "conv32k3 relu pool2 conv64k3 relu pool2 conv64k3 relu fc512 relu fc64 relu fc10 relu linear");
}

TEST_CASE("a specification written as text reads back the same") {
  for (const char* text : {"paper", "lenet", "small", "mlp", "linear", "linear nobias",
                           "conv4k5s3p2 nobias pool3 fc7 relu", "relu pool2 conv1k1 fc3 nobias linear nobias"}) {
    for (const Role role : {Role::focus, Role::classify}) {
      const NetworkSpec spec = parse_network(text, role);
      CHECK(parse_network(to_string(spec), Role::classify) == spec);
    }
  }
}

TEST_CASE("white space around layers does not matter") {
  CHECK(parse_network("  fc3\t relu \n", Role::focus) == parse_network("fc3 relu", Role::focus));
}

TEST_CASE("an unknown preset is refused with the names that exist and the nearest") {
  CHECK(error_of("papr") ==
        "classify network 'papr': expected one of paper, lenet, small, mlp, linear, found 'papr' (nearest: paper); or "
        "a list "
        "of layers");
}

TEST_CASE("a word that is no layer is named with its place") {
  CHECK_THAT(error_of("conv32k3 relu banana"),
             Catch::StartsWith("classify network 'conv32k3 relu banana': layer 3 'banana': expected"));
  for (const char* bad : {"conv32 relu", "convk3 relu", "conv0k3 relu", "conv3k0 relu", "conv3k3s0 relu",
                          "conv3k3x relu", "pool relu", "pool0 relu", "fc relu", "fc-3 relu", "fc3.5 relu",
                          "relu6 relu", "fc99999999999 relu", "fc010 relu", "conv8k03 relu"}) {
    CHECK_THAT(error_of(bad), Catch::Contains("layer 1"));
  }
}

TEST_CASE("one word that looks like a layer is refused as a layer, not as a preset") {
  CHECK_THAT(error_of("conv3k3s0"), Catch::Contains("layer 1 'conv3k3s0': expected convNkK"));
}

TEST_CASE("nobias needs a layer with weights before it") {
  CHECK_THAT(error_of("nobias fc3"), Catch::Contains("found it first"));
  CHECK_THAT(error_of("fc3 relu nobias"), Catch::Contains("found it after relu"));
}

TEST_CASE("nothing comes after the output layer, and an empty network is refused") {
  CHECK_THAT(error_of("linear relu"), Catch::Contains("nothing after the output layer"));
  CHECK_THAT(error_of("  "), Catch::Contains("found nothing"));
}

TEST_CASE("a pooling window beyond 16 is refused") {
  CHECK_NOTHROW(parse_network("pool16 fc3", Role::focus));
  CHECK_THAT(error_of("pool17 fc3"), Catch::Contains("at most 16"));
}
