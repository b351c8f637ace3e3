// Compiled with -ffp-contract=off, as all that draws data.
#include "fcam/data/linear_orthogonal.h"

#include <cmath>
#include <string>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"
#include "fcam/data/bag_builder.h"

namespace fcam {
namespace {

constexpr const char* who = "linear orthogonal data";

void set_foreground(BagBuilder& bags, std::size_t bag, std::size_t label, std::size_t position) {
  bags.set_foreground(bag, label, position);
  bags.patch(bag, position)[label] = 1;
}

}  // namespace

Mosaics make_linear_orthogonal(const LinearOrthogonalOptions& options) {
  for (const double variance : {options.foreground_variance, options.background_variance}) {
    if (!(std::isfinite(variance) && variance >= 0)) {
      throw UsageError(std::string(who) + ": expected variances from 0 up, found " + shortest(variance));
    }
  }
  BagBuilder bags(who, options.classes + 1, options.classes, options.patches, options.count);
  const double foreground_deviation = std::sqrt(options.foreground_variance);
  const double background_deviation = std::sqrt(options.background_variance);
  for (std::size_t i = 0; i < options.count; ++i) {
    Random random(options.seed, options.split == Split::train ? "linear/train" : "linear/test", i);
    const std::size_t y = random.below(options.classes), z = random.below(options.patches);
    set_foreground(bags, i, y, z);
    for (std::size_t j = 0; j < options.patches; ++j) {
      float* x = bags.patch(i, j);
      if (j != z) {
        x[options.classes] = static_cast<float>(background_deviation * random.normal());
        continue;
      }
      for (std::size_t k = 0; k <= options.classes; ++k) {
        x[k] = static_cast<float>(static_cast<double>(x[k]) + foreground_deviation * random.normal());
      }
    }
  }
  return std::move(bags).finish();
}

Mosaics make_linear_population(std::size_t classes, std::size_t patches) {
  BagBuilder bags(who, classes + 1, classes, patches, classes);
  for (std::size_t k = 0; k < classes; ++k) set_foreground(bags, k, k, 0);
  return std::move(bags).finish();
}

}  // namespace fcam
