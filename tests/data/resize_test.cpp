#include "fcam/data/resize.h"

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fcam;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes resized(const Raster& image, std::size_t height, std::size_t width) {
  const Raster result = resize(image, height, width);
  CHECK(result.height == height);
  CHECK(result.width == width);
  CHECK(result.channels == image.channels);
  CHECK(result.pixels.size() == height * width * image.channels);
  return result.pixels;
}

// Most memory, in KiB, of a process that makes a large image and shrinks it.
long peak_of_shrinking(std::size_t side, std::size_t to) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(resize({side, side, 1, Bytes(side * side, 7)}, to, to).pixels.front() == 7 ? 0 : 1);
  }
  int status = -1;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  REQUIRE(status == 0);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("an image that is shrunk takes no memory beside its own", "[data]") {
  constexpr std::size_t side = 4096, own = side * side / 1024;
  CHECK(peak_of_shrinking(side, 8) - peak_of_shrinking(64, 8) < static_cast<long>(own + own / 2));
}

TEST_CASE("an image of the wanted size stays as it is", "[data]") {
  CHECK(resized({2, 2, 1, {1, 200, 30, 4}}, 2, 2) == Bytes{1, 200, 30, 4});
}

TEST_CASE("an image of one colour keeps it at every size", "[data]") {
  const Bytes color{7, 100, 255};
  Bytes pixels;
  for (int k = 0; k < 5 * 3; ++k) pixels.insert(pixels.end(), color.begin(), color.end());
  for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 7}, {9, 2}, {11, 13}}) {
    const Bytes result = resized({5, 3, 3, pixels}, height, width);
    for (std::size_t k = 0; k < result.size(); ++k) CHECK(result[k] == color[k % 3]);
  }
}

TEST_CASE("enlarging goes linearly from pixel to pixel", "[data]") {
  // Places of the four pixels on the grid of the two: 0.25, 0.75, 1.25, 1.75; beyond the outer centres nothing changes.
  CHECK(resized({1, 2, 1, {0, 100}}, 1, 4) == Bytes{0, 25, 75, 100});
  CHECK(resized({2, 1, 1, {0, 100}}, 4, 1) == Bytes{0, 25, 75, 100});
}

TEST_CASE("shrinking takes the weighted mean of all that lies around a place", "[data]") {
  // To half: the place is 1 of reach 2, the distances 0.5, 0.5, 1.5, so the weights 3, 3, 1 of 7; likewise at the end.
  CHECK(resized({1, 4, 1, {70, 0, 0, 140}}, 1, 2) == Bytes{30, 60});
  CHECK(resized({4, 1, 1, {70, 0, 0, 140}}, 2, 1) == Bytes{30, 60});
  // A fine pattern becomes grey, and is not sampled.
  Bytes stripes;
  for (int k = 0; k < 64; ++k) stripes.push_back(k % 2 == 0 ? 0 : 255);
  for (const std::uint8_t value : resized({1, 64, 1, stripes}, 1, 8)) CHECK(std::abs(value - 127) < 10);
}

TEST_CASE("channels do not mix", "[data]") {
  CHECK(resized({1, 2, 3, {0, 10, 255, 100, 10, 255}}, 1, 4) ==
        Bytes{0, 10, 255, 25, 10, 255, 75, 10, 255, 100, 10, 255});
}
