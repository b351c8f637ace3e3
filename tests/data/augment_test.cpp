#include "fcam/data/augment.h"

#include <catch2/catch.hpp>

#include <map>
#include <numeric>

#include "fcam/base/error.h"

using namespace fcam;

namespace {

// Two planes of 8x16 pixels, numbered from 1.
const Shape shape{2, 8, 16};

std::vector<float> numbered() {
  std::vector<float> image(element_count(shape));
  std::iota(image.begin(), image.end(), 1.0f);
  return image;
}

// Where the image has gone, read off its pixels: {flipped, down, right}; fails where it is no flipped, shifted copy.
std::vector<int> change_of(const std::vector<float>& image) {
  std::vector<int> found;
  const std::vector<float> before = numbered();
  for (const bool flip : {false, true}) {
    for (int down = -1; down <= 1; ++down) {
      for (int right = -2; right <= 2; ++right) {
        bool same = true;
        for (int c = 0; c < 2; ++c) {
          for (int y = 0; y < 8; ++y) {
            for (int x = 0; x < 16; ++x) {
              const int from_y = y - down, from_x = x - right;
              const bool inside = from_y >= 0 && from_y < 8 && from_x >= 0 && from_x < 16;
              const int source_x = flip ? 15 - from_x : from_x;
              const float expected = inside ? before[static_cast<std::size_t>((c * 8 + from_y) * 16 + source_x)] : 0;
              same = same && image[static_cast<std::size_t>((c * 8 + y) * 16 + x)] == expected;
            }
          }
        }
        if (same) {
          REQUIRE(found.empty());
          found = {flip, down, right};
        }
      }
    }
  }
  REQUIRE(found.size() == 3);
  return found;
}

}  // namespace

TEST_CASE("images are flipped and shifted by up to an eighth, every way about equally often") {
  Random random(1, "test");
  std::map<std::vector<int>, int> counts;
  constexpr int draws = 6000;
  for (int i = 0; i < draws; ++i) {
    std::vector<float> image = numbered();
    augment({.flip = true, .crop = true}, shape, random, image.data());
    ++counts[change_of(image)];
  }
  CHECK(counts.size() == 2 * 3 * 5);
  for (const auto& [change, count] : counts) CHECK(count == Approx(draws / 30.0).epsilon(0.35));
}

TEST_CASE("each change can be had alone, and none changes nothing") {
  Random random(1, "test");
  for (int i = 0; i < 50; ++i) {
    std::vector<float> image = numbered();
    augment({}, shape, random, image.data());
    CHECK(image == numbered());
    augment({.flip = true}, shape, random, image.data());
    const std::vector<int> flipped = change_of(image);
    CHECK((flipped[1] == 0 && flipped[2] == 0));
    image = numbered();
    augment({.crop = true}, shape, random, image.data());
    CHECK(change_of(image)[0] == 0);
  }
}

TEST_CASE("augmentations are read by name") {
  CHECK_FALSE(parse_augmentation({}));
  CHECK(parse_augmentation({"flip"}).flip);
  CHECK_FALSE(parse_augmentation({"flip"}).crop);
  CHECK(parse_augmentation({"crop", "flip"}).crop);
  CHECK_THROWS_AS(parse_augmentation({"rotate"}), UsageError);
  CHECK_THROWS_AS(parse_augmentation({"flip", "flip"}), UsageError);
}

TEST_CASE("augmentation is refused for what is no image") {
  CHECK_NOTHROW(require_images({.flip = true}, shape));
  CHECK_NOTHROW(require_images({}, {5}));
  CHECK_THROWS_AS(require_images({.crop = true}, {5}), UsageError);
}
