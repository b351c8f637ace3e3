// Compiled with -ffp-contract=off, as all that draws data.
#include "fcam/data/linear_orthogonal.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

void require(bool holds, const std::string& expected, const std::string& found) {
  if (!holds) throw UsageError("linear orthogonal data: expected " + expected + ", found " + found);
}

// Bags to be filled, all numbers zero and all patches background.
struct Bags {
  Bags(std::size_t class_count, std::size_t m, std::size_t n) : classes(class_count), patches(m), count(n) {
    require(classes > 0 && patches > 0 && count > 0, "at least 1 class, patch and mosaic",
            std::to_string(classes) + ", " + std::to_string(patches) + " and " + std::to_string(count));
    const std::size_t numbers = saturating_count({count, patches, dimension()});
    values.resize(numbers);
    patch_labels.assign(count * patches, static_cast<int>(classes));
    labels.resize(count);
    z.resize(count);
  }

  std::size_t dimension() const { return classes + 1; }
  float* patch(std::size_t bag, std::size_t position) { return &values[(bag * patches + position) * dimension()]; }
  void set_foreground(std::size_t bag, std::size_t label, std::size_t position) {
    labels[bag] = static_cast<int>(label);
    z[bag] = static_cast<int>(position);
    patch_labels[bag * patches + position] = static_cast<int>(label);
    patch(bag, position)[label] = 1;
  }

  Mosaics finish() && {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < classes; ++c) names.push_back(std::to_string(c));
    std::vector<std::string> patch_names = names;
    patch_names.emplace_back("background");
    Images images({dimension()}, std::move(values), std::move(patch_labels), std::move(patch_names));
    return Mosaics::from_bags(std::move(images), patches, std::move(labels), std::move(z), std::move(names));
  }

  std::size_t classes, patches, count;
  std::vector<float> values;
  std::vector<int> patch_labels, labels, z;
};

}  // namespace

Mosaics make_linear_orthogonal(const LinearOrthogonalOptions& options) {
  for (const double variance : {options.foreground_variance, options.background_variance}) {
    require(std::isfinite(variance) && variance >= 0, "variances from 0 up", shortest(variance));
  }
  Bags bags(options.classes, options.patches, options.count);
  const double foreground_deviation = std::sqrt(options.foreground_variance);
  const double background_deviation = std::sqrt(options.background_variance);
  for (std::size_t i = 0; i < bags.count; ++i) {
    Random random(options.seed, options.split == Split::train ? "linear/train" : "linear/test", i);
    const std::size_t y = random.below(bags.classes), z = random.below(bags.patches);
    bags.set_foreground(i, y, z);
    for (std::size_t j = 0; j < bags.patches; ++j) {
      float* x = bags.patch(i, j);
      if (j != z) {
        x[bags.classes] = static_cast<float>(background_deviation * random.normal());
        continue;
      }
      for (std::size_t k = 0; k < bags.dimension(); ++k) {
        x[k] = static_cast<float>(static_cast<double>(x[k]) + foreground_deviation * random.normal());
      }
    }
  }
  return std::move(bags).finish();
}

Mosaics make_linear_population(std::size_t classes, std::size_t patches) {
  Bags bags(classes, patches, classes);
  for (std::size_t k = 0; k < classes; ++k) bags.set_foreground(k, k, 0);
  return std::move(bags).finish();
}

}  // namespace fcam
