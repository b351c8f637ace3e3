#include "fcam/training/warnings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam {
namespace {

// Share of the largest possible entropy, and of all mosaics, from which on a focus is uniform, a prediction constant.
constexpr double uniform_share = 0.99, one_class_share = 0.99;

std::string percent(std::size_t part, std::size_t all) {
  return fixed(100 * static_cast<double>(part) / static_cast<double>(all), 1) + "%";
}

}  // namespace

Warnings::Warnings(std::size_t patches, std::vector<std::string> class_names, std::size_t epochs)
    : patches_(patches), epochs_(epochs), class_names_(std::move(class_names)) {}

std::vector<std::string> Warnings::see(const Epoch& epoch) {
  const Metrics& metrics = epoch.train;
  std::vector<std::string> texts;
  const auto add = [&](bool holds, std::size_t& epochs, bool& said, const auto& text) {
    epochs = holds ? epochs + 1 : 0;
    if (epochs < epochs_ || said) return;
    said = true;
    texts.push_back("epoch " + std::to_string(epoch.number) + ": " + text() + " for " + std::to_string(epochs_) +
                    " epochs; another learning rate or seed may help");
  };
  const double largest = std::log(static_cast<double>(patches_));
  add(patches_ > 1 && metrics.focus_entropy >= uniform_share * largest, uniform_epochs_, said_uniform_, [&] {
    return "the focus has been nearly uniform (entropy " + fixed(metrics.focus_entropy, 4) + " of at most " +
           fixed(largest, 4) + ")";
  });
  const auto most = std::max_element(metrics.classes.begin(), metrics.classes.end(),
                                     [](const auto& a, const auto& b) { return a.predicted < b.predicted; });
  const double threshold = one_class_share * static_cast<double>(metrics.n);
  const bool one_class = most != metrics.classes.end() && static_cast<double>(most->predicted) >= threshold &&
                         static_cast<double>(most->n) < threshold;
  add(one_class, one_class_epochs_, said_one_class_, [&] {
    return percent(most->predicted, metrics.n) + " of the mosaics have been predicted to be " +
           quote(class_names_.at(static_cast<std::size_t>(most - metrics.classes.begin()))) + ", which " +
           percent(most->n, metrics.n) + " are,";
  });
  return texts;
}

}  // namespace fcam
