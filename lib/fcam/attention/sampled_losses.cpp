#include "fcam/attention/sampled_losses.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "fcam/base/random.h"

namespace fcam {
namespace {

// The generator of one mosaic's draws.
template <class T>
Random draws_of(const Batch<T>& batch, std::size_t b) {
  assert(batch.index.size() == batch.size());
  return Random(batch.draw_seed, "loss", batch.index[b]);
}

// A position drawn with probabilities in proportion to e^log_weight, among those that `allowed` lets through; the
// largest logarithm among them is taken out first, so that small weights count as they should.
template <class T, class Allowed>
int draw(Random& random, const T* log_weight, std::size_t m, Allowed&& allowed) {
  double largest = -INFINITY, total = 0;
  for (std::size_t j = 0; j < m; ++j) {
    if (allowed(j)) largest = std::max(largest, static_cast<double>(log_weight[j]));
  }
  const auto weight = [&](std::size_t j) {
    return allowed(j) ? std::exp(static_cast<double>(log_weight[j]) - largest) : 0.0;
  };
  for (std::size_t j = 0; j < m; ++j) total += weight(j);
  double left = random.uniform() * total;
  int chosen = -1;
  for (std::size_t j = 0; j < m; ++j) {
    const double w = weight(j);
    if (w == 0) continue;
    chosen = static_cast<int>(j);  // the last one takes what rounding leaves
    left -= w;
    if (left < 0) break;
  }
  return chosen;
}

}  // namespace

template <class T>
const std::vector<int>& draw_positions(Graph<T>& graph, const Batch<T>& batch, Var<T> log_a, std::size_t count) {
  const std::size_t m = log_a.value().shape().back();
  std::vector<int>& positions = graph.positions();
  for (std::size_t b = 0; b < batch.size(); ++b) {
    Random random = draws_of(batch, b);
    for (std::size_t i = 0; i < count; ++i) {
      positions.push_back(draw(random, log_a.value().data() + b * m, m, [](std::size_t) { return true; }));
    }
  }
  return positions;
}

template <class T>
Selection<T> select_top(Graph<T>& graph, const Batch<T>& batch, Var<T> log_a, std::size_t top) {
  const std::size_t m = log_a.value().shape().back();
  const bool all = top + 1 >= m;
  const std::size_t count = all ? m : top + 1;
  std::vector<int>&positions = graph.positions(), &order = graph.positions();
  Node<T>& log_probability = log_a.tape().record({}, TensorShape{batch.size(), count}, nullptr);
  std::fill_n(log_probability.own_value.data(), log_probability.own_value.size(), T(0));
  for (std::size_t b = 0; b < batch.size(); ++b) {
    const T* const row = log_a.value().data() + b * m;
    order.clear();
    for (std::size_t j = 0; j < m; ++j) order.push_back(static_cast<int>(j));
    const auto better = [row](int i, int j) { return row[i] > row[j] || (row[i] == row[j] && i < j); };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(all ? m : top), order.end(), better);
    positions.insert(positions.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    if (all) continue;
    const auto rest = [&](std::size_t j) {
      return std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), static_cast<int>(j)) ==
             order.begin() + static_cast<std::ptrdiff_t>(top);
    };
    Random random = draws_of(batch, b);
    const int chosen = draw(random, row, m, rest);
    positions.back() = chosen;
    double total = 0;  // of the rest, relative to the chosen one
    for (std::size_t j = 0; j < m; ++j) {
      if (rest(j)) total += std::exp(static_cast<double>(row[j]) - static_cast<double>(row[chosen]));
    }
    log_probability.own_value.data()[b * count + top] = static_cast<T>(-std::log(total));
  }
  return {positions, Var<T>(log_probability)};
}

template <class T>
Var<T> advantage(Var<T> rewards) {
  const auto& shape = rewards.value().shape();
  const std::size_t mosaics = shape[0], k = rewards.value().size() / mosaics;
  Node<T>& node = rewards.tape().record({}, shape, nullptr);
  const T* r = rewards.value().data();
  // The group of draws whose others serve as the baseline: one mosaic, or all of them where each has one.
  const std::size_t group = k > 1 ? k : mosaics;
  for (std::size_t first = 0; first < mosaics * k; first += group) {
    double total = 0;
    for (std::size_t i = first; i < first + group; ++i) total += static_cast<double>(r[i]);
    for (std::size_t i = first; i < first + group; ++i) {
      const double others = group > 1 ? (total - static_cast<double>(r[i])) / static_cast<double>(group - 1) : 0;
      node.own_value.data()[i] = static_cast<T>(static_cast<double>(r[i]) - others);
    }
  }
  return Var<T>(node);
}

#define FCAM_INSTANTIATE(T)                                                                         \
  template const std::vector<int>& draw_positions(Graph<T>&, const Batch<T>&, Var<T>, std::size_t); \
  template Selection<T> select_top(Graph<T>&, const Batch<T>&, Var<T>, std::size_t);                \
  template Var<T> advantage(Var<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
