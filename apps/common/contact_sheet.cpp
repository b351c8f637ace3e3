#include "common/contact_sheet.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

constexpr std::size_t patch_pixels = 64;  // wanted for the longer side
constexpr std::size_t strip_pixels = 16;  // height of a vector
constexpr std::size_t frame = 5;          // around a patch
constexpr std::size_t patch_gap = 1, row_gap = 8, column_gap = 30, margin = 14;
constexpr double largest_sheet = 1e8, largest_side = 1e6;  // libpng takes no longer side

// How an item is drawn.
struct Patch {
  std::size_t width, height;  // in cells
  std::size_t across, down;   // pixels of a cell
  std::size_t channels;       // 3: colours, 1: grey

  std::size_t pixels_across() const { return width * across + 2 * frame; }
  std::size_t pixels_down() const { return height * down + 2 * frame; }
};

Patch patch_of(const Shape& shape) {
  const bool is_vector = shape.size() < 2;
  const std::size_t width = shape.back();
  const std::size_t height = is_vector ? 1 : shape[shape.size() - 2];
  const std::size_t longer = std::max(width, height);
  const std::size_t scale = std::max<std::size_t>(1, (patch_pixels + longer / 2) / longer);
  const bool colours = shape.size() == 3 && shape[0] == 3;
  return {width, height, scale, is_vector ? strip_pixels : scale, colours ? std::size_t{3} : std::size_t{1}};
}

// Sizes of a sheet whose mosaics have `width` x `height` pixels, `count` of them in columns of `rows`.
struct Sheet {
  std::size_t columns, rows, width, height;
};

// Throws UsageError where it is too large.
Sheet arrange(std::size_t count, std::size_t width, std::size_t height) {
  const auto check = [&](double pixels, double side) {
    if (pixels <= largest_sheet && side <= largest_side) return;
    throw UsageError("contact sheet: expected at most " + fixed(largest_sheet, 0) + " pixels and " +
                     fixed(largest_side, 0) + " a side, found " + std::to_string(count) + " mosaics of " +
                     std::to_string(width) + "x" + std::to_string(height));
  };
  const auto number = [](std::size_t size) { return static_cast<double>(size); };
  check(number(count) * number(width) * number(height), 0);  // before columns are tried
  Sheet sheet{};
  std::size_t columns = 0;
  do {
    ++columns;
    sheet.rows = (count + columns - 1) / columns;
    sheet.columns = (count + sheet.rows - 1) / sheet.rows;
    sheet.width = 2 * margin + sheet.columns * (width + column_gap) - column_gap;
    sheet.height = 2 * margin + sheet.rows * (height + row_gap) - row_gap;
  } while (columns < count && sheet.height > sheet.width + sheet.width / 4);
  check(number(sheet.width) * number(sheet.height), number(std::max(sheet.width, sheet.height)));
  return sheet;
}

std::size_t width_of(const Mosaics& mosaics, const Patch& patch) {
  return mosaics.patches() * (patch.pixels_across() + patch_gap) - patch_gap;
}

// Turns the numbers of items into bytes.
class Shades {
 public:
  Shades(const Images& images, const std::vector<Mosaic>& shown, std::size_t numbers) : images_(images) {
    if (images.has_bytes()) return;
    for (const Mosaic& mosaic : shown) {
      for (const std::size_t item : mosaic.images) {
        const float* values = images.values(item);
        for (std::size_t k = 0; k < numbers; ++k) {
          if (!std::isfinite(values[k])) continue;
          lowest_ = std::min(lowest_, values[k]);
          highest_ = std::max(highest_, values[k]);
        }
      }
    }
  }

  std::uint8_t at(std::size_t item, std::size_t k) const {
    if (images_.has_bytes()) return images_.bytes(item)[k];
    const double value = images_.values(item)[k];
    const double range = double{highest_} - lowest_;
    if (!(range > 0) || std::isnan(value)) return 128;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - lowest_) / range, 0.0, 1.0)));
  }

 private:
  const Images& images_;
  float lowest_ = std::numeric_limits<float>::max(), highest_ = std::numeric_limits<float>::lowest();
};

// The foreground: a thick frame, off the patch by a line. Others: a line around the patch.
void draw_frame(Picture& picture, std::size_t left, std::size_t top, const Patch& patch, bool is_foreground) {
  const auto fill = [&](std::size_t inset, Color color) {
    picture.fill(left + inset, top + inset, patch.pixels_across() - 2 * inset, patch.pixels_down() - 2 * inset, color);
  };
  if (is_foreground) fill(0, foreground_frame);
  fill(frame - 1, is_foreground ? sheet_background : background_frame);
}

void draw_patch(Picture& picture, std::size_t left, std::size_t top, const Patch& patch, const Shades& shades,
                std::size_t item) {
  const std::size_t plane = patch.width * patch.height;
  for (std::size_t y = 0; y < patch.height; ++y) {
    for (std::size_t x = 0; x < patch.width; ++x) {
      const std::size_t k = y * patch.width + x;
      Color color;
      color.red = color.green = color.blue = shades.at(item, k);
      if (patch.channels == 3) {
        color.green = shades.at(item, k + plane);
        color.blue = shades.at(item, k + 2 * plane);
      }
      picture.fill(left + x * patch.across, top + y * patch.down, patch.across, patch.down, color);
    }
  }
}

}  // namespace

Picture contact_sheet(const Mosaics& mosaics, std::size_t count) {
  assert(count >= 1);
  count = std::min(count, mosaics.count());
  const Patch patch = patch_of(mosaics.shape());
  const std::size_t mosaic_width = width_of(mosaics, patch);
  const Sheet sheet = arrange(count, mosaic_width, patch.pixels_down());

  std::vector<Mosaic> shown(count);
  for (std::size_t i = 0; i < count; ++i) mosaics.draw(i, shown[i]);
  const Shades shades(mosaics.images(), shown, patch.channels * patch.width * patch.height);

  Picture picture(sheet.width, sheet.height, sheet_background);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t top = margin + i % sheet.rows * (patch.pixels_down() + row_gap);
    std::size_t left = margin + i / sheet.rows * (mosaic_width + column_gap);
    for (std::size_t j = 0; j < shown[i].images.size(); ++j, left += patch.pixels_across() + patch_gap) {
      const bool is_foreground = shown[i].z >= 0 && static_cast<std::size_t>(shown[i].z) == j;
      draw_frame(picture, left, top, patch, is_foreground);
      draw_patch(picture, left + frame, top + frame, patch, shades, shown[i].images[j]);
    }
  }
  return picture;
}

void check_contact_sheet(const Mosaics& mosaics, std::size_t count) {
  const Patch patch = patch_of(mosaics.shape());
  static_cast<void>(arrange(std::min(count, mosaics.count()), width_of(mosaics, patch), patch.pixels_down()));
}

}  // namespace fcam::apps
