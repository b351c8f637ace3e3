#include "fcam/autodiff/gradient_check.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace fcam;

namespace {

struct Quadratic {
  std::vector<double> x{1.0, -2.0, 3.0};
  double value() const { return x[0] * x[0] + std::exp(x[1]) * x[2]; }
  std::vector<double> gradient() const { return {2 * x[0], std::exp(x[1]) * x[2], std::exp(x[1])}; }
};

}  // namespace

TEST_CASE("the gradient checker accepts a right gradient and leaves x as it was") {
  Quadratic f;
  const auto before = f.x;
  CHECK(check_gradient("f", f.x, f.gradient(), [&] { return f.value(); }) == "");
  CHECK(f.x == before);
}

TEST_CASE("the gradient checker names index, expected and found value of a wrong element") {
  Quadratic f;
  auto gradient = f.gradient();
  gradient[1] *= 1 + 1e-6;
  const std::string message = check_gradient("f", f.x, gradient, [&] { return f.value(); });
  CHECK_THAT(message, Catch::StartsWith("f: gradient at index 1: expected 0.406005849"));
  CHECK_THAT(message, Catch::Contains("found 0.40600625"));
}

TEST_CASE("the gradient checker refuses NaN") {
  Quadratic f;
  auto gradient = f.gradient();
  gradient[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(check_gradient("f", f.x, gradient, [&] { return f.value(); }), Catch::Contains("index 2"));
}

TEST_CASE("at a kink only the listed values are legal") {
  std::vector<double> x{0.0};
  const auto value = [&] { return std::max(x[0], 0.0); };
  const GradientCheckOptions options{.legal_at_kink = [](std::size_t) { return std::vector<double>{0.0, 1.0}; }};
  CHECK(check_gradient("relu", x, std::vector<double>{0.0}, value, options) == "");
  CHECK(check_gradient("relu", x, std::vector<double>{1.0}, value, options) == "");
  CHECK(check_gradient("relu", x, std::vector<double>{0.5}, value, options) != "");
  CHECK(check_gradient("relu", x, std::vector<double>{0.0}, value) != "");
}

TEST_CASE("a kink near by does not disturb the gradient checker") {
  std::vector<double> x{5e-4};
  CHECK(check_gradient("relu", x, std::vector<double>{1.0}, [&] { return std::max(x[0], 0.0); }) == "");
}
