#include "common/contact_sheet.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "fcam/base/error.h"

using namespace fcam::apps;
using fcam::Images;
using fcam::Mosaics;
using fcam::Shape;

namespace {

const std::vector<std::string> classes{"a", "b", "c"};

// Bags of `patches` items whose pixels are all different from white and the frames.
Mosaics byte_bags(const Shape& shape, std::size_t bags, std::size_t patches, std::vector<int> z) {
  std::vector<std::uint8_t> pixels(bags * patches * fcam::element_count(shape));
  for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::uint8_t>(k * 7 % 200);
  return Mosaics::from_bags(Images(shape, pixels, std::vector<int>(bags * patches, 0), classes), patches,
                            std::vector<int>(bags, 1), std::move(z), classes);
}

Mosaics number_bags(const Shape& shape, std::size_t patches, const std::vector<float>& values) {
  const std::size_t items = values.size() / fcam::element_count(shape);
  return Mosaics::from_bags(Images(shape, values, std::vector<int>(items, 0), classes), patches,
                            std::vector<int>(items / patches, 0), std::vector<int>(items / patches, 0), classes);
}

struct Box {
  std::size_t left, top, right, bottom;  // the last two beyond the end
  std::size_t width() const { return right - left; }
  std::size_t height() const { return bottom - top; }
};

// Smallest box that holds all pixels of a colour.
Box box_of(const Picture& picture, Color color) {
  Box box{picture.width, picture.height, 0, 0};
  for (std::size_t y = 0; y < picture.height; ++y) {
    for (std::size_t x = 0; x < picture.width; ++x) {
      if (!(picture.at(x, y) == color)) continue;
      box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x + 1), std::max(box.bottom, y + 1)};
    }
  }
  REQUIRE(box.right > box.left);
  return box;
}

// From the outer edge of the frame to the pixels of the patch.
constexpr std::size_t frame = 5;

}  // namespace

TEST_CASE("the patch at z is framed, enlarged by a whole number and shown exactly", "[contact_sheet]") {
  const auto [side, scale] =
      GENERATE(std::pair<std::size_t, std::size_t>{28, 2}, std::pair<std::size_t, std::size_t>{16, 4},
               std::pair<std::size_t, std::size_t>{32, 2}, std::pair<std::size_t, std::size_t>{90, 1});
  const Mosaics bags = byte_bags({1, side, side}, 1, 3, {1});
  const Picture picture = contact_sheet(bags, 1);
  const Box box = box_of(picture, foreground_frame);
  REQUIRE(box.width() == side * scale + 2 * frame);
  REQUIRE(box.height() == side * scale + 2 * frame);
  CHECK(box.left > picture.width / 3);  // the second of three
  CHECK(box.right < 2 * picture.width / 3 + 1);
  const std::uint8_t* pixels = bags.images().bytes(1);
  bool same = true;
  for (std::size_t y = 0; y < side * scale; ++y) {
    for (std::size_t x = 0; x < side * scale; ++x) {
      const std::uint8_t grey = pixels[y / scale * side + x / scale];
      same = same && picture.at(box.left + frame + x, box.top + frame + y) == Color{grey, grey, grey};
    }
  }
  CHECK(same);
}

TEST_CASE("three channels are shown as colours, two as the first in grey", "[contact_sheet]") {
  for (const std::size_t channels : {2u, 3u}) {
    const Mosaics bags = byte_bags({channels, 32, 32}, 1, 2, {0});
    const Picture picture = contact_sheet(bags, 1);
    const Box box = box_of(picture, foreground_frame);
    const std::uint8_t* pixels = bags.images().bytes(0) + 32 * 5 + 3;
    const Color expected =
        channels == 3 ? Color{pixels[0], pixels[1024], pixels[2048]} : Color{pixels[0], pixels[0], pixels[0]};
    CHECK(picture.at(box.left + frame + 2 * 3, box.top + frame + 2 * 5) == expected);
  }
}

TEST_CASE("where z is not known no patch is framed as foreground", "[contact_sheet]") {
  const Picture picture = contact_sheet(byte_bags({1, 16, 16}, 2, 3, {}), 2);
  for (std::size_t k = 0; k < picture.width * picture.height; ++k) {
    REQUIRE(!(picture.at(k % picture.width, k / picture.width) == foreground_frame));
  }
  CHECK(box_of(picture, background_frame).width() > 3 * 64);
}

TEST_CASE("a sheet has a white margin and holds no more mosaics than there are", "[contact_sheet]") {
  const Mosaics bags = byte_bags({1, 16, 16}, 3, 5, {0, 2, 4});
  const Picture all = contact_sheet(bags, 1000);
  CHECK(all.rgb == contact_sheet(bags, 3).rgb);
  CHECK(contact_sheet(bags, 1).height < all.height);
  for (std::size_t x = 0; x < all.width; ++x) {
    REQUIRE(all.at(x, 0) == sheet_background);
    REQUIRE(all.at(x, all.height - 1) == sheet_background);
  }
}

TEST_CASE("many mosaics go into columns, one mosaic stays a row", "[contact_sheet]") {
  const Picture one = contact_sheet(byte_bags({1, 16, 16}, 1, 20, {0}), 1);
  CHECK(one.width > 10 * one.height);
  const Mosaics bags = byte_bags({1, 16, 16}, 100, 2, std::vector<int>(100, 1));
  const Picture many = contact_sheet(bags, 100);
  CHECK(many.height < 1.3 * static_cast<double>(many.width));
  CHECK(many.width < 2 * many.height);
}

TEST_CASE("numbers are scaled from the lowest to the highest that are shown", "[contact_sheet]") {
  // The second bag, with larger numbers, is not shown.
  std::vector<float> values(2 * 16 * 16, -1.0f);
  values[0] = -3;
  values[1] = 1;
  values[256] = 1000;
  const Picture picture = contact_sheet(number_bags({1, 16, 16}, 1, values), 1);
  const Box box = box_of(picture, foreground_frame);
  const auto cell = [&](std::size_t x) { return picture.at(box.left + frame + 4 * x, box.top + frame); };
  CHECK(cell(0) == Color{0, 0, 0});
  CHECK(cell(1) == Color{255, 255, 255});
  CHECK(cell(2) == Color{128, 128, 128});
}

TEST_CASE("constant and non-finite numbers make a picture", "[contact_sheet]") {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto cells = [](const std::vector<float>& values) {
    const Picture picture = contact_sheet(number_bags({values.size()}, 1, values), 1);
    const Box box = box_of(picture, foreground_frame);
    const std::size_t scale = (box.width() - 2 * frame) / values.size();
    std::vector<int> greys;
    for (std::size_t k = 0; k < values.size(); ++k) {
      greys.push_back(picture.at(box.left + frame + k * scale, box.bottom - frame - 1).red);
    }
    return greys;
  };
  CHECK(cells({2, 2, 2}) == std::vector<int>{128, 128, 128});
  CHECK(cells({0, infinity, -infinity, nan, 1}) == std::vector<int>{0, 255, 0, 128, 255});
  CHECK(cells({nan, nan}) == std::vector<int>{128, 128});
  const float most = std::numeric_limits<float>::max();
  CHECK(cells({-most, 0, most}) == std::vector<int>{0, 128, 255});
}

TEST_CASE("a vector is a strip of cells, wider than high", "[contact_sheet]") {
  std::vector<float> values(20);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
  const Picture picture = contact_sheet(number_bags({20}, 1, values), 1);
  const Box box = box_of(picture, foreground_frame);
  CHECK(box.width() == 20 * 3 + 2 * frame);
  CHECK(box.height() < box.width() / 2);
  CHECK(picture.at(box.left + frame, box.top + frame) == Color{0, 0, 0});
  CHECK(picture.at(box.right - frame - 1, box.bottom - frame - 1) == Color{255, 255, 255});
}

TEST_CASE("a sheet beyond all measure is a UsageError", "[contact_sheet]") {
  const Mosaics many = byte_bags({1, 1, 1}, 30000, 1, {}), wide = byte_bags({1}, 1, 15000, {});
  for (const Mosaics& mosaics : {many, wide}) {
    CHECK_THROWS_AS(contact_sheet(mosaics, 30000), fcam::UsageError);
    CHECK_THROWS_AS(fcam::apps::check_contact_sheet(mosaics, 30000), fcam::UsageError);
  }
  CHECK_NOTHROW(fcam::apps::check_contact_sheet(many, 1000));
}
