#include "fcam/analysis/heat_map.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fcam/base/text.h"

namespace fcam {
namespace {

// `value` with one decimal; halves go up, as they would by hand: 0.15 (a little less in binary) becomes 0.2.
std::string tenths(double value) { return fixed(std::round(10 * value) / 10, 1); }

std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// Bin of a value among `bins` on [0,1]: an edge k/n belongs to the bin above it, also where k/n times n rounds to less.
std::size_t bin_of(double value, std::size_t bins) {
  if (!(value > 0)) return 0;  // so is NaN
  const auto n = static_cast<double>(bins);
  const auto bin = static_cast<std::size_t>(std::min(value * n, n - 1));
  if (value < static_cast<double>(bin) / n) return bin - 1;
  return bin + 1 < bins && value >= static_cast<double>(bin + 1) / n ? bin + 1 : bin;
}

}  // namespace

HeatMap::HeatMap(std::size_t bins) : bins_(bins), counts_(bins * bins) { assert(bins >= 1); }

void HeatMap::add(double a_z, double s_y) {
  ++counts_[bin_of(s_y, bins_) * bins_ + bin_of(a_z, bins_)];
  ++total_;
}

double HeatMap::at(std::size_t r, std::size_t c) const {
  assert(r < bins_ && c < bins_);
  return total_ > 0 ? static_cast<double>(counts_[r * bins_ + c]) / static_cast<double>(total_) : 0;
}

std::string to_text(const HeatMap& map) {
  constexpr std::size_t label_width = 10, cell_width = 8;
  const auto bins = static_cast<double>(map.bins());
  const auto cell = [](double fraction) { return right_aligned(tenths(100 * fraction), cell_width); };
  const auto interval = [&](std::size_t bin) {
    return tenths(static_cast<double>(bin) / bins) + "-" + tenths(static_cast<double>(bin + 1) / bins);
  };
  std::string text = right_aligned("s_y \\ a_z", label_width);
  for (std::size_t c = 0; c < map.bins(); ++c) text += right_aligned(interval(c), cell_width);
  text += right_aligned("sum", cell_width) + "\n";
  std::vector<double> column_sums(map.bins());
  for (std::size_t r = map.bins(); r-- > 0;) {
    text += right_aligned(interval(r), label_width);
    double row_sum = 0;
    for (std::size_t c = 0; c < map.bins(); ++c) {
      text += cell(map.at(r, c));
      row_sum += map.at(r, c);
      column_sums[c] += map.at(r, c);
    }
    text += cell(row_sum) + "\n";
  }
  text += right_aligned("sum", label_width);
  double total = 0;
  for (const double sum : column_sums) {
    text += cell(sum);
    total += sum;
  }
  return text + cell(total) + "\n";
}

}  // namespace fcam
