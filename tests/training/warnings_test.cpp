#include "fcam/training/warnings.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace fcam;
using Catch::Contains;

namespace {

const std::vector<std::string> names{"cat", "dog"};

// An epoch of 100 mosaics, 60 of them cats.
Epoch epoch_with(std::size_t number, double entropy, std::size_t predicted_cats) {
  Epoch epoch;
  epoch.number = number;
  epoch.train.n = 100;
  epoch.train.focus_entropy = entropy;
  epoch.train.classes = {{.n = 60, .correct = 0, .predicted = predicted_cats},
                         {.n = 40, .correct = 0, .predicted = 100 - predicted_cats}};
  return epoch;
}

const double uniform = std::log(5.0);

}  // namespace

TEST_CASE("a focus that stays uniform is warned about once, after so many epochs in a row", "[training]") {
  Warnings warnings(5, names, 3);
  CHECK(warnings.see(epoch_with(1, uniform, 50)).empty());
  CHECK(warnings.see(epoch_with(2, uniform, 50)).empty());
  CHECK(warnings.see(epoch_with(3, 0.9 * uniform, 50)).empty());
  CHECK(warnings.see(epoch_with(4, uniform, 50)).empty());
  CHECK(warnings.see(epoch_with(5, uniform, 50)).empty());
  const auto texts = warnings.see(epoch_with(6, 0.995 * uniform, 50));
  REQUIRE(texts.size() == 1);
  CHECK_THAT(texts[0], Contains("epoch 6: the focus has been nearly uniform (entropy 1.6014 of at most 1.6094) for 3"));
  for (std::size_t number = 7; number < 20; ++number) CHECK(warnings.see(epoch_with(number, uniform, 50)).empty());
}

TEST_CASE("one predicted class for all is warned about once, with its share of the mosaics", "[training]") {
  Warnings warnings(5, names, 2);
  CHECK(warnings.see(epoch_with(1, 0, 100)).empty());
  CHECK(warnings.see(epoch_with(2, 0, 98)).empty());
  CHECK(warnings.see(epoch_with(3, 0, 0)).empty());
  const auto texts = warnings.see(epoch_with(4, 0, 1));
  REQUIRE(texts.size() == 1);
  CHECK_THAT(texts[0],
             Contains("epoch 4: 99.0% of the mosaics have been predicted to be 'dog', which 40.0% are, for 2"));
  CHECK(warnings.see(epoch_with(5, 0, 100)).empty());
}

TEST_CASE("both warnings may come at once", "[training]") {
  Warnings warnings(2, names, 1);
  CHECK(warnings.see(epoch_with(1, std::log(2.0), 100)).size() == 2);
}

TEST_CASE("one patch, one class and data that are nearly all of one class are no reason to warn", "[training]") {
  Warnings one_patch(1, names, 1);
  CHECK(one_patch.see(epoch_with(1, 0, 50)).empty());
  Warnings one_class(5, {"cat"}, 1);
  Epoch epoch = epoch_with(1, 0, 100);
  epoch.train.classes = {{.n = 100, .correct = 100, .predicted = 100}};
  CHECK(one_class.see(epoch).empty());
  Warnings uneven(5, names, 1);
  epoch.train.classes = {{.n = 99, .correct = 99, .predicted = 100}, {.n = 1, .correct = 0, .predicted = 0}};
  CHECK(uneven.see(epoch).empty());
}
