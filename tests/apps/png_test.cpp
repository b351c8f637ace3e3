#include "common/png.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include <png.h>

#include "fcam/base/error.h"
#include "support/temporary_folder.h"

using namespace fcam::apps;

namespace {

Picture read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
  CHECK(image.format == PNG_FORMAT_RGB);  // as stored
  Picture picture;
  picture.width = image.width;
  picture.height = image.height;
  picture.rgb.resize(PNG_IMAGE_SIZE(image));
  REQUIRE(png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr) != 0);
  return picture;
}

}  // namespace

TEST_CASE("a written PNG holds every pixel", "[png]") {
  const fcam::test::TemporaryFolder folder;
  Picture picture(7, 5, {1, 2, 3});
  for (std::size_t k = 0; k < picture.rgb.size(); ++k) picture.rgb[k] = static_cast<std::uint8_t>(37 * k + 11);
  const std::string path = folder.file("it's a b.png");
  write_png(path, picture);
  const Picture back = read_png(path);
  CHECK(back.width == 7);
  CHECK(back.height == 5);
  CHECK(back.rgb == picture.rgb);
}

TEST_CASE("a PNG of one pixel and one of noise that does not compress", "[png]") {
  const fcam::test::TemporaryFolder folder;
  const std::string path = folder.file("x.png");
  write_png(path, Picture(1, 1, {9, 8, 7}));
  CHECK(read_png(path).at(0, 0) == Color{9, 8, 7});

  Picture noise(301, 203, {});
  std::uint32_t state = 1;
  for (auto& byte : noise.rgb) byte = static_cast<std::uint8_t>((state = 1664525 * state + 1013904223) >> 24);
  write_png(path, noise);  // replaces the first
  CHECK(read_png(path).rgb == noise.rgb);
}

TEST_CASE("a picture that cannot be written is a WriteError and leaves nothing behind", "[png]") {
  const fcam::test::TemporaryFolder folder;
  CHECK_THROWS_AS(write_png(folder.file("missing/x.png"), Picture(2, 2, {})), fcam::WriteError);
  CHECK_THROWS_AS(write_png(folder.file("x.png"), Picture()), fcam::WriteError);
  // libpng's own refusal: it takes no more than a million pixels a side.
  CHECK_THROWS_AS(write_png(folder.file("x.png"), Picture(1'000'001, 1, {})), fcam::WriteError);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("fill stays inside the picture", "[png]") {
  const Color back{10, 20, 30}, front{200, 100, 50};
  Picture picture(4, 3, back);
  picture.fill(2, 1, 100, 1, front);
  picture.fill(4, 0, 1, 1, front);
  picture.fill(0, 3, 1, 1, front);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 4; ++x) {
      INFO("x " << x << ", y " << y);
      CHECK((picture.at(x, y) == front) == (y == 1 && x >= 2));
      CHECK((picture.at(x, y) == back) == !(y == 1 && x >= 2));
    }
  }
}
