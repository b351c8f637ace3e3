#include "fcam/data/mosaic.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/base/fnv.h"
#include "fcam/base/random.h"

namespace fcam {
namespace {

void check_bags(bool holds, const std::string& expected, const std::string& found) {
  if (!holds) throw DataError("bags: expected " + expected + ", found " + found);
}

void check_options(bool holds, const std::string& expected, const std::string& found) {
  if (!holds) throw UsageError("mosaics: expected " + expected + ", found " + found);
}

// Every number in [0, bound).
void check_range(const std::vector<int>& numbers, std::size_t bound, const std::string& what) {
  const auto bad = std::find_if(numbers.begin(), numbers.end(),
                                [&](int number) { return number < 0 || std::cmp_greater_equal(number, bound); });
  if (bad == numbers.end()) return;
  check_bags(false, what + " from 0 to below " + std::to_string(bound),
             std::to_string(*bad) + " at index " + std::to_string(bad - numbers.begin()));
}

constexpr std::size_t largest_int = std::numeric_limits<int>::max();

// numpy's RandomState.randint(bound): nothing is drawn where there is no choice.
std::size_t numpy_below(std::mt19937& generator, std::size_t bound) {
  const auto largest = static_cast<std::uint32_t>(bound - 1);
  if (largest == 0) return 0;
  const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(largest);
  for (;;) {
    const auto draw = static_cast<std::uint32_t>(generator()) & mask;
    if (draw <= largest) return draw;
  }
}

// Numbers of the classes called `names`, which are marked in `taken`.
std::vector<std::size_t> claim_classes(const std::vector<std::string>& class_names,
                                       const std::vector<std::string>& names, std::vector<bool>& taken) {
  std::vector<std::size_t> classes;
  for (const std::string& name : names) {
    const auto c = static_cast<std::size_t>(find_class(class_names, name));
    check_options(!taken[c], "each class once, as foreground or as background", quote(name) + " again");
    taken[c] = true;
    classes.push_back(c);
  }
  return classes;
}

}  // namespace

Mosaics::Mosaics(Images images, const MosaicOptions& options)
    : images_(std::move(images)),
      patches_(options.patches),
      count_(options.count),
      seed_(options.seed),
      split_(options.split),
      draws_(options.draws) {
  check_options(patches_ >= 1 && patches_ <= largest_int, "1 to " + std::to_string(largest_int) + " patches",
                std::to_string(patches_));
  check_options(count_ >= 1, "at least 1 mosaic", std::to_string(count_));
  constexpr std::uint64_t numpy_seeds = std::uint64_t{1} << 32;
  check_options(draws_ != Draws::numpy || (count_ <= numpy_seeds && images_.count() <= numpy_seeds),
                "at most 4294967296 mosaics and images with numpy draws",
                std::to_string(count_) + " mosaics and " + std::to_string(images_.count()) + " images");

  const std::vector<std::string>& names = images_.class_names();
  std::vector<std::string> foreground = options.foreground;
  if (foreground.empty()) {
    std::string found = std::to_string(names.size());
    for (std::size_t c = 0; c < names.size() && c < 3; ++c) found += (c == 0 ? ": " : ", ") + quote(names[c]);
    check_options(names.size() >= 3, "at least 3 classes where no foreground is named", found);
    foreground.assign(names.begin(), names.begin() + 3);
  }
  std::vector<bool> taken(names.size());
  const std::vector<std::size_t> classes = claim_classes(names, foreground, taken);
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> label_of(names.size(), none);
  for (std::size_t y = 0; y < classes.size(); ++y) label_of[classes[y]] = y;

  std::vector<bool> is_background(names.size());
  const std::vector<std::size_t> background = claim_classes(names, options.background, taken);
  for (const std::size_t c : background) is_background[c] = true;
  for (std::size_t c = 0; background.empty() && c < names.size(); ++c) is_background[c] = label_of[c] == none;

  foreground_.resize(classes.size());
  std::vector<std::size_t> images_of(names.size());
  for (std::size_t i = 0; i < images_.count(); ++i) {
    const auto c = static_cast<std::size_t>(images_.labels()[i]);
    ++images_of[c];
    if (label_of[c] != none) {
      foreground_[label_of[c]].push_back(i);
      all_foreground_.push_back(i);
    } else if (is_background[c]) {
      background_.push_back(i);
    }
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    check_options(
        !taken[c] || images_of[c] > 0,
        "images of class " + quote(names[c]) + " in the " + (split_ == Split::train ? "training" : "test") + " set",
        "none");
  }
  check_options(patches_ == 1 || !background_.empty(), "a background class for mosaics of more than one patch", "none");
  for (const std::size_t c : classes) class_names_.push_back(names[c]);
}

Mosaics Mosaics::from_bags(Images patches, std::size_t patches_per_bag, std::vector<int> labels, std::vector<int> z,
                           std::vector<std::string> class_names) {
  check_bags(patches_per_bag >= 1 && patches_per_bag <= largest_int,
             "1 to " + std::to_string(largest_int) + " patches a bag", std::to_string(patches_per_bag));
  check_bags(!labels.empty(), "at least one bag", "no samples");
  check_bags(patches.count() % patches_per_bag == 0 && patches.count() / patches_per_bag == labels.size(),
             std::to_string(labels.size()) + " bags of " + std::to_string(patches_per_bag) + " patches",
             std::to_string(patches.count()) + " patches");
  check_bags(z.empty() || z.size() == labels.size(), std::to_string(labels.size()) + " positions z",
             std::to_string(z.size()));
  check_range(labels, class_names.size(), "labels");
  check_range(z, patches_per_bag, "positions z");

  Mosaics bags;
  bags.images_ = std::move(patches);
  bags.patches_ = patches_per_bag;
  bags.count_ = labels.size();
  bags.class_names_ = std::move(class_names);
  bags.knows_positions_ = !z.empty();
  bags.ready_made_ = true;
  bags.bag_labels_ = std::move(labels);
  bags.bag_positions_ = std::move(z);
  return bags;
}

void Mosaics::draw(std::size_t i, Mosaic& mosaic) const {
  assert(i < count_);
  mosaic.images.resize(patches_);
  if (ready_made_) {
    std::iota(mosaic.images.begin(), mosaic.images.end(), i * patches_);
    mosaic.label = bag_labels_[i];
    mosaic.z = knows_positions_ ? bag_positions_[i] : -1;
  } else if (draws_ == Draws::numpy) {
    draw_numpy(i, mosaic);
  } else {
    draw_keyed(i, mosaic);
  }
}

void Mosaics::draw_keyed(std::size_t i, Mosaic& mosaic) const {
  Random random(seed_, split_ == Split::train ? "mosaic/train" : "mosaic/test", i);
  const auto y = static_cast<std::size_t>(random.below(foreground_.size()));
  const auto z = static_cast<std::size_t>(random.below(patches_));
  const auto& own = foreground_[y];
  mosaic.images[z] = own[random.below(own.size())];
  for (std::size_t j = 0; j < patches_; ++j) {
    if (j != z) mosaic.images[j] = background_[random.below(background_.size())];
  }
  mosaic.label = static_cast<int>(y);
  mosaic.z = static_cast<int>(z);
}

void Mosaics::draw_numpy(std::size_t i, Mosaic& mosaic) const {
  std::mt19937 generator(static_cast<std::uint32_t>(i));
  auto& images = mosaic.images;
  for (std::size_t j = 0; j + 1 < patches_; ++j) images[j] = background_[numpy_below(generator, background_.size())];
  const std::size_t foreground = all_foreground_[numpy_below(generator, all_foreground_.size())];
  const std::size_t z = numpy_below(generator, patches_);
  std::copy_backward(images.begin() + static_cast<std::ptrdiff_t>(z), images.end() - 1, images.end());
  images[z] = foreground;
  mosaic.z = static_cast<int>(z);
  const auto& labels = images_.labels();
  const auto its_class = std::find_if(foreground_.begin(), foreground_.end(),
                                      [&](const auto& own) { return labels[own.front()] == labels[foreground]; });
  mosaic.label = static_cast<int>(its_class - foreground_.begin());
}

template <class T>
void Mosaics::copy(const Mosaic& mosaic, T* x) const {
  const std::size_t numbers = element_count(images_.shape());
  for (std::size_t j = 0; j < mosaic.images.size(); ++j) images_.copy(mosaic.images[j], x + j * numbers);
}

template void Mosaics::copy(const Mosaic&, float*) const;
template void Mosaics::copy(const Mosaic&, double*) const;

std::uint64_t content_hash(const Mosaics& bags) {
  Fnv hash;
  hash.add(content_hash(bags.images()));
  hash.add(bags.patches());
  Mosaic bag;
  for (std::size_t i = 0; i < bags.count(); ++i) {
    bags.draw(i, bag);
    hash.add(static_cast<std::uint64_t>(bag.label));
    hash.add(static_cast<std::uint64_t>(std::int64_t{bag.z}));
  }
  for (const std::string& name : bags.class_names()) hash.add(std::string_view(name));
  return hash.value();
}

}  // namespace fcam
