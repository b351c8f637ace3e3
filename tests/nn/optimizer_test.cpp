#include "fcam/nn/optimizer.h"

#include <catch2/catch.hpp>

using namespace fcam;

namespace {

// Minimises w^2 from 1 with the gradient 2 w; returns the weight after each step.
std::vector<double> descend(const OptimizerOptions& options, int steps) {
  Optimizer<double> optimizer(1, options);
  double weight = 1;
  std::vector<double> path;
  for (int i = 0; i < steps; ++i) {
    const double gradient = 2 * weight;
    optimizer.begin_step();
    optimizer.update(0, 1, &weight, &gradient);
    path.push_back(weight);
  }
  return path;
}

void check_path(const std::vector<double>& path, const std::vector<double>& expected) {
  REQUIRE(path.size() == expected.size());
  for (std::size_t i = 0; i < path.size(); ++i) CHECK(path[i] == Approx(expected[i]).epsilon(1e-13));
}

}  // namespace

TEST_CASE("SGD with momentum takes PyTorch's steps") {
  // torch.optim.SGD([w], lr=0.1, momentum=0.9) on w^2 from 1, float64
  check_path(descend({.learning_rate = 0.1, .momentum = 0.9}, 4), {0.8, 0.46, 0.062, -0.3086});
}

TEST_CASE("SGD without momentum is gradient descent") {
  check_path(descend({.learning_rate = 0.25, .momentum = 0}, 3), {0.5, 0.25, 0.125});
}

TEST_CASE("ranges of weights can be updated one by one") {
  for (const auto kind : {OptimizerOptions::Kind::sgd, OptimizerOptions::Kind::adam}) {
    Optimizer<float> whole(5, {.kind = kind}), parts(5, {.kind = kind});
    std::vector<float> a{1, 2, 3, 4, 5}, b = a;
    const std::vector<float> gradient{1, -1, 2, -2, 3};
    for (int step = 0; step < 3; ++step) {
      whole.begin_step();
      parts.begin_step();
      whole.update(0, 5, a.data(), gradient.data());
      parts.update(3, 2, b.data() + 3, gradient.data() + 3);
      parts.update(0, 3, b.data(), gradient.data());
    }
    CHECK(a == b);
  }
}

TEST_CASE("a learning rate of zero changes nothing") {
  for (const auto kind : {OptimizerOptions::Kind::sgd, OptimizerOptions::Kind::adam}) {
    CHECK(descend({.kind = kind, .learning_rate = 0}, 2) == std::vector<double>{1, 1});
  }
}

TEST_CASE("Adam takes PyTorch's steps") {
  // torch.optim.Adam([w], lr=0.1) on w^2 from 1, float64
  check_path(descend({.kind = OptimizerOptions::Kind::adam, .learning_rate = 0.1}, 4),
             {0.9000000005, 0.8004122286917927, 0.7015862729460302, 0.6039390605737459});
}

TEST_CASE("weight decay is PyTorch's: in the gradient of SGD, apart from it in Adam") {
  // torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.5) and AdamW([w], lr=0.1, weight_decay=0.5), float64
  check_path(descend({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.5}, 4),
             {0.75, 0.3375, -0.118125, -0.49865625});
  check_path(descend({.kind = OptimizerOptions::Kind::adam, .learning_rate = 0.1, .weight_decay = 0.5}, 4),
             {0.8500000004999999, 0.7082484433597452, 0.5749739307415966, 0.4505145183555379});
}
