// Integer arithmetic only, so that the bytes are the same on every machine.
#include "fcam/data/shapes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/random.h"

namespace fcam {
namespace {

constexpr int pixels = 16;           // a side
constexpr int units = 8;             // a pixel's side in the unit of lengths
constexpr int samples = 4;           // a pixel's side; each stands in the middle of its part
constexpr int noise = 10;            // of a byte, to either side
constexpr int least_contrast = 240;  // sum of the three channels' differences

using Colour = std::array<int, 3>;

int between(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

// Whether the point (x,y), relative to the centre with y downwards, is in the shape of radius r.
struct ShapeClass {
  const char* name;
  bool (*covers)(int x, int y, int r);
};

bool in_square(int x, int y, int r) { return std::max(std::abs(x), std::abs(y)) * 8 <= 7 * r; }
bool in_disk(int x, int y, int r) { return x * x + y * y <= r * r; }
// Three bands of five across a square.
bool in_band(int along, int r) { return (along + r) * 5 / (2 * r + 1) % 2 == 0; }

constexpr std::array<ShapeClass, 10> shape_classes{{
    {"disk", in_disk},
    {"ring", [](int x, int y, int r) { return in_disk(x, y, r) && !in_disk(x, y, r * 5 / 8); }},
    {"square", in_square},
    {"frame", [](int x, int y, int r) { return in_square(x, y, r) && !in_square(x, y, r * 5 / 8); }},
    {"triangle", [](int x, int y, int r) { return 7 * std::abs(x) <= 4 * (y + r) && 4 * y <= 3 * r; }},
    {"diamond", [](int x, int y, int r) { return std::abs(x) + std::abs(y) <= r; }},
    {"plus", [](int x, int y, int r) { return in_disk(x, y, r) && std::min(std::abs(x), std::abs(y)) * 4 <= r; }},
    {"cross",
     [](int x, int y, int r) { return in_disk(x, y, r) && std::min(std::abs(x + y), std::abs(x - y)) * 14 <= 5 * r; }},
    {"bars", [](int x, int y, int r) { return std::abs(x) <= r && std::abs(y) <= r && in_band(y, r); }},
    {"stripes", [](int x, int y, int r) { return std::abs(x) <= r && std::abs(y) <= r && in_band(x, r); }},
}};

Colour draw_colour(Random& random) {
  return {between(random, 0, 255), between(random, 0, 255), between(random, 0, 255)};
}

int contrast(const Colour& a, const Colour& b) {
  return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]);
}

// How many of the samples of pixel (column,row) a shape covers.
int coverage(const ShapeClass& shape, int column, int row, int centre_x, int centre_y, int radius) {
  constexpr int step = units / samples;
  int covered = 0;
  for (int sy = 0; sy < samples; ++sy) {
    for (int sx = 0; sx < samples; ++sx) {
      const int x = column * units + sx * step + step / 2 - centre_x;
      const int y = row * units + sy * step + step / 2 - centre_y;
      covered += shape.covers(x, y, radius) ? 1 : 0;
    }
  }
  return covered;
}

void draw_shape(const ShapeClass& shape, Random& random, std::uint8_t* image) {
  constexpr int side = pixels * units;
  const int radius = between(random, side / 4, side * 7 / 16);
  const int centre_x = between(random, radius, side - radius);
  const int centre_y = between(random, radius, side - radius);
  const Colour paper = draw_colour(random);
  Colour ink;
  do ink = draw_colour(random);
  while (contrast(ink, paper) < least_contrast);

  for (int row = 0; row < pixels; ++row) {
    for (int column = 0; column < pixels; ++column) {
      const int covered = coverage(shape, column, row, centre_x, centre_y, radius);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const int clean =
            (ink[channel] * covered + paper[channel] * (samples * samples - covered)) / (samples * samples);
        const int value = std::clamp(clean + between(random, -noise, noise), 0, 255);
        image[(channel * pixels + static_cast<std::size_t>(row)) * pixels + static_cast<std::size_t>(column)] =
            static_cast<std::uint8_t>(value);
      }
    }
  }
}

}  // namespace

Images make_shapes(std::uint64_t seed, Split split, std::size_t count) {
  if (count == 0) throw UsageError("shapes: expected at least 1 image, found 0");
  const Shape shape{3, pixels, pixels};
  const std::size_t size = element_count(shape);
  std::vector<std::uint8_t> bytes(count * size);
  std::vector<int> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    Random random(seed, split == Split::train ? "shapes/train" : "shapes/test", i);
    const std::size_t c = i % shape_classes.size();
    labels[i] = static_cast<int>(c);
    draw_shape(shape_classes[c], random, bytes.data() + i * size);
  }
  std::vector<std::string> names;
  for (const ShapeClass& c : shape_classes) names.emplace_back(c.name);
  return Images(shape, std::move(bytes), std::move(labels), std::move(names));
}

Images make_shapes(std::uint64_t seed, Split split) {
  return make_shapes(seed, split, split == Split::train ? 6000 : 2000);
}

}  // namespace fcam
