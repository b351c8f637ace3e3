#include "fcam/nn/kernels.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/gradients.h"

using namespace fcam;
using namespace fcam::test;

namespace {

// The stage of a convolution without padding, ReLU, and pooling.
ImageStage conv_stage(std::size_t channels, std::size_t side, std::size_t filters, std::size_t kernel,
                      std::size_t pool) {
  ImageStage stage{.channels = channels, .height = side, .width = side, .filters = filters, .kernel = kernel};
  stage.relu = true;
  stage.pool = pool;
  stage.out_height = stage.out_width = (side - kernel + 1) / pool;
  return stage;
}

// Pooling of the input as it is.
ImageStage pool_stage(std::size_t channels, std::size_t side, std::size_t pool) {
  ImageStage stage{.channels = channels, .height = side, .width = side, .filters = channels};
  stage.pool = pool;
  stage.out_height = stage.out_width = side / pool;
  return stage;
}

// The convolutions of the paper's networks on images of 3x32x32.
std::vector<ImageStage> paper_stages() {
  std::vector<ImageStage> stages{conv_stage(3, 32, 32, 3, 2), conv_stage(32, 15, 64, 3, 2),
                                 conv_stage(64, 6, 64, 3, 1)};
  stages[0].in_planes = true;
  stages[2].out_planes = true;
  return stages;
}

template <class T>
Buffer<T> normal(std::size_t size, std::uint64_t seed) {
  const Tensor<double> x = normal_tensor({size}, seed);
  return Buffer<T>(x.data(), x.data() + size);
}

template <class To, class From>
Buffer<To> convert(const Buffer<From>& from) {
  return Buffer<To>(from.begin(), from.end());
}

// Everything that goes into a stage and comes out, of `count` images.
template <class T>
struct Pass {
  Buffer<T> in, weight, bias, out, out_gradient, weight_gradient, bias_gradient, in_gradient;
  Buffer<std::uint8_t> winner;
};

template <class T>
Pass<T> inputs_of(const ImageStage& s, std::size_t count) {
  Pass<T> pass;
  pass.in = normal<T>(count * s.in_size(), 1);
  pass.weight = normal<T>(s.filters * s.taps(), 2);
  pass.bias = normal<T>(s.filters, 3);
  pass.out_gradient = normal<T>(count * s.out_size(), 4);
  return pass;
}

template <class T>
void run_forward(const ImageStage& s, std::size_t count, Pass<T>& pass, Workspace<T>& workspace) {
  pass.out.resize(count * s.out_size());
  pass.winner.resize(pass.out.size());
  forward(s, count, pass.in.data(), pass.weight.data(), s.is_conv() ? pass.bias.data() : nullptr, pass.out.data(),
          pass.winner.data(), workspace);
}

template <class T>
void run_backward(const ImageStage& s, std::size_t count, Pass<T>& pass, Workspace<T>& workspace) {
  pass.weight_gradient.assign(pass.weight.size(), T(0));
  pass.bias_gradient.assign(pass.bias.size(), T(0));
  pass.in_gradient.assign(pass.in.size(), std::numeric_limits<T>::quiet_NaN());
  backward(s, count, pass.in.data(), pass.weight.data(), pass.out.data(), pass.winner.data(), pass.out_gradient.data(),
           StageGradients<T>{s.is_conv() ? pass.weight_gradient.data() : nullptr,
                             s.is_conv() ? pass.bias_gradient.data() : nullptr, pass.in_gradient.data()},
           workspace);
}

template <class T>
Pass<T> run(const ImageStage& s, std::size_t count) {
  Pass<T> pass = inputs_of<T>(s, count);
  Workspace<T> workspace;
  run_forward(s, count, pass, workspace);
  run_backward(s, count, pass, workspace);
  return pass;
}

// Norm of the difference, relative to that of `expected`.
template <class T>
double distance(const Buffer<T>& found, const Buffer<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = static_cast<double>(found[i]) - expected[i];
    difference += d * d;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

// `images` of (channels, area) as (area, channels).
template <class T>
Buffer<T> channels_last(const Buffer<T>& images, std::size_t channels, std::size_t area) {
  Buffer<T> result(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t image = i / (channels * area), c = i / area % channels, p = i % area;
    result[(image * area + p) * channels + c] = images[i];
  }
  return result;
}

void check_float_against_double(const ImageStage& s, std::size_t count) {
  Pass<double> expected = run<double>(s, count);
  Pass<float> found = inputs_of<float>(s, count);
  Workspace<float> workspace;
  run_forward(s, count, found, workspace);
  CHECK(distance(found.out, expected.out) < 1e-5);
  // Where two values are within rounding either may win: the sweeps are compared for the same winners.
  found.out = convert<float>(expected.out);
  found.winner = expected.winner;
  run_backward(s, count, found, workspace);
  CHECK(distance(found.weight_gradient, expected.weight_gradient) < 1e-5);
  CHECK(distance(found.bias_gradient, expected.bias_gradient) < 1e-5);
  CHECK(distance(found.in_gradient, expected.in_gradient) < 1e-5);
}

// The four layouts of a stage give the numbers of the one with planes on both sides.
void check_layouts(ImageStage s, std::size_t count) {
  s.in_planes = s.out_planes = true;
  const Pass<double> planes = run<double>(s, count);
  for (const bool in_planes : {true, false}) {
    for (const bool out_planes : {true, false}) {
      CAPTURE(in_planes, out_planes);
      s.in_planes = in_planes;
      s.out_planes = out_planes;
      const auto in_layout = [&](const Buffer<double>& x) {
        return in_planes ? x : channels_last(x, s.channels, s.height * s.width);
      };
      const auto out_layout = [&](const Buffer<double>& x) {
        return out_planes ? x : channels_last(x, s.filters, s.out_area());
      };
      Pass<double> pass = inputs_of<double>(s, count);
      pass.in = in_layout(planes.in);
      pass.out_gradient = out_layout(planes.out_gradient);
      Workspace<double> workspace;
      run_forward(s, count, pass, workspace);
      run_backward(s, count, pass, workspace);
      CHECK(distance(pass.out, out_layout(planes.out)) < 1e-13);
      CHECK(distance(pass.in_gradient, in_layout(planes.in_gradient)) < 1e-13);
      if (s.pool > 1) CHECK(pass.winner == planes.winner);
      if (!s.is_conv()) continue;
      CHECK(distance(pass.weight_gradient, planes.weight_gradient) < 1e-13);
      CHECK(distance(pass.bias_gradient, planes.bias_gradient) < 1e-13);
    }
  }
}

}  // namespace

TEST_CASE("the paper's convolutions in float agree with double, forward and backward", "[nn]") {
  for (const ImageStage& stage : paper_stages()) {
    CAPTURE(stage.channels);
    check_float_against_double(stage, 5);
  }
}

TEST_CASE("the paper's convolutions have the same numbers in every layout of input and output", "[nn]") {
  for (const ImageStage& stage : paper_stages()) {
    CAPTURE(stage.channels);
    check_layouts(stage, 3);
  }
}

TEST_CASE("a convolution with stride and padding has the same numbers in every layout", "[nn]") {
  ImageStage stage = conv_stage(5, 11, 7, 3, 2);
  stage.stride = 2;
  stage.padding = 2;
  stage.out_height = stage.out_width = ((11 + 2 * 2 - 3) / 2 + 1) / 2;
  check_layouts(stage, 4);
}

TEST_CASE("pooling without a convolution has the same numbers in every layout, also with a dropped border", "[nn]") {
  check_layouts(pool_stage(6, 8, 2), 4);
  check_layouts(pool_stage(3, 11, 4), 4);
}

TEST_CASE("images give the same numbers together and one by one, whatever share of a block they fill", "[nn]") {
  for (const ImageStage& stage : paper_stages()) {
    for (const std::size_t count : {1, 2, 3, 13}) {
      CAPTURE(stage.channels, count);
      const Pass<double> together = run<double>(stage, count);
      Pass<double> alone = inputs_of<double>(stage, count);
      Buffer<double> sum(together.weight_gradient.size(), 0.0);
      Workspace<double> workspace;
      for (std::size_t i = 0; i < count; ++i) {
        const auto part = [&](const Buffer<double>& all) {
          const std::size_t size = all.size() / count;
          return Buffer<double>(all.begin() + static_cast<std::ptrdiff_t>(i * size),
                                all.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
        };
        alone.in = part(together.in);
        alone.out_gradient = part(together.out_gradient);
        run_forward(stage, 1, alone, workspace);
        run_backward(stage, 1, alone, workspace);
        CHECK(distance(alone.out, part(together.out)) < 1e-13);
        CHECK(distance(alone.in_gradient, part(together.in_gradient)) < 1e-13);
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += alone.weight_gradient[k];
      }
      CHECK(distance(sum, together.weight_gradient) < 1e-12);
    }
  }
}

TEST_CASE("gradients that nobody asks for are not needed for the others", "[nn]") {
  for (const ImageStage& stage : paper_stages()) {
    const Pass<double> all = run<double>(stage, 3);
    Pass<double> some = all;
    Workspace<double> workspace;
    const auto sweep = [&](StageGradients<double> gradients) {
      backward(stage, 3, some.in.data(), some.weight.data(), some.out.data(), some.winner.data(),
               some.out_gradient.data(), gradients, workspace);
    };
    some.weight_gradient.assign(all.weight_gradient.size(), 0);
    sweep({some.weight_gradient.data(), nullptr, nullptr});
    CHECK(distance(some.weight_gradient, all.weight_gradient) < 1e-14);
    some.in_gradient.assign(all.in_gradient.size(), 1);
    sweep({nullptr, nullptr, some.in_gradient.data()});
    CHECK(distance(some.in_gradient, all.in_gradient) < 1e-14);
  }
}

TEST_CASE("weight and bias gradients of a convolution are added to what is there", "[nn]") {
  for (const ImageStage& stage : paper_stages()) {
    Pass<double> pass = run<double>(stage, 3);
    Buffer<double> weight = pass.weight_gradient, bias = pass.bias_gradient;
    Workspace<double> workspace;
    backward(stage, 3, pass.in.data(), pass.weight.data(), pass.out.data(), pass.winner.data(),
             pass.out_gradient.data(), StageGradients<double>{weight.data(), bias.data(), nullptr}, workspace);
    for (auto* doubled : {&weight, &bias}) {
      for (double& g : *doubled) g /= 2;
    }
    CHECK(distance(weight, pass.weight_gradient) < 1e-13);
    CHECK(distance(bias, pass.bias_gradient) < 1e-13);
  }
}

TEST_CASE("the paper's fully connected layers in float agree with double, forward and backward", "[nn]") {
  const std::vector<LinearStage> stages{{1024, 512, true}, {512, 64, true}, {64, 10, true}, {10, 3, false}};
  for (const LinearStage& s : stages) {
    const std::size_t count = 7;
    const auto run_linear = [&]<class T>(T) {
      Pass<T> pass;
      pass.in = normal<T>(count * s.inputs, 1);
      pass.weight = normal<T>(s.units * s.inputs, 2);
      pass.bias = normal<T>(s.units, 3);
      pass.out.resize(count * s.units);
      forward(s, count, pass.in.data(), pass.weight.data(), pass.bias.data(), pass.out.data());
      pass.out_gradient = normal<T>(count * s.units, 4);
      pass.weight_gradient.assign(pass.weight.size(), T(0));
      pass.bias_gradient.assign(s.units, T(0));
      pass.in_gradient.resize(pass.in.size());
      backward(s, count, pass.in.data(), pass.weight.data(), pass.out.data(), pass.out_gradient.data(),
               StageGradients<T>{pass.weight_gradient.data(), pass.bias_gradient.data(), pass.in_gradient.data()});
      return pass;
    };
    CAPTURE(s.inputs);
    const Pass<float> found = run_linear(0.0F);
    const Pass<double> expected = run_linear(0.0);
    CHECK(distance(found.out, expected.out) < 1e-5);
    CHECK(distance(found.weight_gradient, expected.weight_gradient) < 1e-5);
    CHECK(distance(found.bias_gradient, expected.bias_gradient) < 1e-5);
    CHECK(distance(found.in_gradient, expected.in_gradient) < 1e-5);
  }
}
