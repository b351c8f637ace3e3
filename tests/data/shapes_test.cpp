#include "fcam/data/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr std::size_t plane = 16 * 16;

// An image without its colours: 1 for the ink of the shape, 0 for the paper, which a corner shows.
std::array<double, plane> ink(const Images& images, std::size_t i) {
  const std::uint8_t* bytes = images.bytes(i);
  std::array<double, plane> result{};
  double most = 0;
  for (std::size_t p = 0; p < plane; ++p) {
    for (std::size_t c = 0; c < 3; ++c) result[p] += std::abs(bytes[c * plane + p] - bytes[c * plane]);
    most = std::max(most, result[p]);
  }
  for (double& value : result) value = value > most / 2 ? 1 : 0;
  return result;
}

}  // namespace

TEST_CASE("shapes are small colour images of ten classes in equal numbers", "[data]") {
  const Images images = make_shapes(1, Split::test, 50);
  CHECK(images.shape() == Shape{3, 16, 16});
  CHECK(images.has_bytes());
  CHECK(std::set<std::string>(images.class_names().begin(), images.class_names().end()).size() == 10);
  for (int c = 0; c < 10; ++c) CHECK(std::count(images.labels().begin(), images.labels().end(), c) == 5);
}

TEST_CASE("shapes come in the numbers promised", "[data]") {
  CHECK(make_shapes(1, Split::train).count() == 6000);
  CHECK(make_shapes(1, Split::test).count() == 2000);
  check_error<UsageError>([] { make_shapes(1, Split::train, 0); }, {"shapes", "expected at least 1", "found 0"});
}

TEST_CASE("the bytes of shapes are the same on every machine", "[data]") {
  CHECK(content_hash(make_shapes(1, Split::train, 1000)) == 0x337baa7e16cb4ac9u);
}

TEST_CASE("a shape is a function of seed, split and index, not of how many there are", "[data]") {
  const Images few = make_shapes(7, Split::train, 20), many = make_shapes(7, Split::train, 500);
  CHECK(std::equal(few.bytes(0), few.bytes(0) + 20 * 3 * plane, many.bytes(0)));
  const auto differs = [&](const Images& other) {
    return !std::equal(few.bytes(0), few.bytes(0) + 3 * plane, other.bytes(0));
  };
  CHECK(differs(make_shapes(8, Split::train, 20)));
  CHECK(differs(make_shapes(7, Split::test, 20)));
}

TEST_CASE("shapes of a class differ in place and colour", "[data]") {
  const Images images = make_shapes(3, Split::train, 200);
  std::set<std::vector<std::uint8_t>> seen;
  for (std::size_t i = 0; i < 200; ++i)
    seen.insert(std::vector<std::uint8_t>(images.bytes(i), images.bytes(i) + 3 * plane));
  CHECK(seen.size() == 200);
}

TEST_CASE("every shape stands out from its ground and leaves some of it", "[data]") {
  const Images images = make_shapes(5, Split::train, 500);
  for (std::size_t i = 0; i < images.count(); ++i) {
    const auto pixels = ink(images, i);
    const double covered = std::count(pixels.begin(), pixels.end(), 1.0);
    CAPTURE(i, images.class_names()[i % 10]);
    CHECK(covered >= 8);
    CHECK(covered <= 190);
  }
}

TEST_CASE("classes of shapes can be told apart without looking at colours", "[data]") {
  // The nearest of many examples, after moving the shape to the middle, finds most classes; chance finds a tenth.
  const auto centred = [](const Images& images, std::size_t i) {
    const auto pixels = ink(images, i);
    int left = 16, top = 16;
    for (int p = 0; p < static_cast<int>(plane); ++p) {
      if (pixels[static_cast<std::size_t>(p)] == 0) continue;
      left = std::min(left, p % 16);
      top = std::min(top, p / 16);
    }
    std::array<double, plane> moved{};
    for (int y = top; y < 16; ++y) {
      for (int x = left; x < 16; ++x)
        moved[static_cast<std::size_t>((y - top) * 16 + x - left)] = pixels[static_cast<std::size_t>(y * 16 + x)];
    }
    return moved;
  };
  const Images train = make_shapes(1, Split::train, 500), test = make_shapes(1, Split::test, 200);
  std::vector<std::array<double, plane>> examples;
  for (std::size_t k = 0; k < train.count(); ++k) examples.push_back(centred(train, k));
  int right = 0;
  for (std::size_t i = 0; i < test.count(); ++i) {
    const auto pixels = centred(test, i);
    const auto distance = [&](const std::array<double, plane>& other) {
      double sum = 0;
      for (std::size_t p = 0; p < plane; ++p) sum += std::abs(pixels[p] - other[p]);
      return sum;
    };
    const auto nearest = std::min_element(examples.begin(), examples.end(),
                                          [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    right += train.labels()[static_cast<std::size_t>(nearest - examples.begin())] == test.labels()[i] ? 1 : 0;
  }
  CHECK(right >= 170);
}
