#include "fcam/data/holdout.h"

#include <algorithm>

#include "fcam/base/error.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam {

std::vector<std::size_t> part_of_one_set(const std::vector<int>& labels, const std::vector<std::string>& class_names,
                                         double fraction, Split split, const std::string& source) {
  if (!(fraction > 0 && fraction < 1)) {
    throw UsageError("holdout: expected a fraction between 0 and 1, found " + shortest(fraction));
  }
  std::vector<std::vector<std::size_t>> items_of(class_names.size());
  for (std::size_t i = 0; i < labels.size(); ++i) items_of[static_cast<std::size_t>(labels[i])].push_back(i);
  std::vector<std::size_t> part;
  for (std::size_t c = 0; c < items_of.size(); ++c) {
    const auto& items = items_of[c];
    if (items.empty()) continue;
    if (items.size() == 1) {
      throw bad_input(source, "at least 2 items of class " + quote(class_names[c]) + ", to hold some out for the test",
                      "1");
    }
    const auto rounded = static_cast<std::size_t>(static_cast<double>(items.size()) * fraction + 0.5);
    const std::size_t for_test = std::clamp<std::size_t>(rounded, 1, items.size() - 1);
    const Permutation shuffled(items.size(), 0, "holdout", c);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if ((shuffled(k) < for_test) == (split == Split::test)) part.push_back(items[k]);
    }
  }
  std::sort(part.begin(), part.end());
  return part;
}

}  // namespace fcam
