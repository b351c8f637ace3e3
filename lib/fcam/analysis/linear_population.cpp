#include "fcam/analysis/linear_population.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "fcam/analysis/shards.h"
#include "fcam/base/blas.h"
#include "fcam/base/error.h"
#include "fcam/base/text.h"
#include "fcam/data/linear_orthogonal.h"

namespace fcam {
namespace {

constexpr double most_numbers = 1e7;

void descend(Buffer<double>& weights, const Buffer<double>& gradient, double step) {
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= step * gradient[i];
}

}  // namespace

Model<double> make_linear_model(std::size_t classes) {
  if (classes < 2) throw UsageError("classes: expected at least 2, found " + std::to_string(classes));
  Model<double> model({classes + 1}, classes, {.focus = "linear nobias", .classify = "linear nobias"});
  set_gaps(model, 0, 0);
  return model;
}

void set_gaps(Model<double>& model, double mu, double nu) {
  const std::size_t classes = model.classes(), dimension = classes + 1;
  Buffer<double>&w = model.classify.weights(), &v = model.focus.weights();
  assert(w.size() == classes * dimension && v.size() == dimension);
  std::fill(w.begin(), w.end(), 0.0);
  std::fill(v.begin(), v.end(), 0.0);
  const double others = -mu / static_cast<double>(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t c = 0; c < classes; ++c) w[c * dimension + k] = others;
    w[k * dimension + k] = mu + others;
    v[k] = nu;
  }
}

LinearGaps gaps_of(const Buffer<double>& v, const Buffer<double>& w) {
  const std::size_t dimension = v.size(), classes = dimension - 1;
  assert(classes > 1 && w.size() == classes * dimension);
  const double c = static_cast<double>(classes);
  double trace = 0, sum = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    trace += w[k * dimension + k];
    for (std::size_t j = 0; j < classes; ++j) sum += w[j * dimension + k];
  }
  LinearGaps gaps;
  gaps.mu = (trace - sum / c) / (c - 1);  // <W, I - 11'/C> over the square of the norm of I - 11'/C
  gaps.nu = std::accumulate(v.begin(), v.end() - 1, 0.0) / c;
  for (std::size_t k = 0; k < dimension; ++k) {
    const bool last = k == classes;
    for (std::size_t j = 0; j < classes; ++j) {
      const double shape = last ? 0 : (j == k ? gaps.mu : 0) - gaps.mu / c;
      gaps.off_shape = std::max(gaps.off_shape, std::abs(w[j * dimension + k] - shape));
    }
    gaps.off_shape = std::max(gaps.off_shape, std::abs(v[k] - (last ? 0 : gaps.nu)));
  }
  return gaps;
}

LinearGaps gaps_of(const Model<double>& model) { return gaps_of(model.focus.weights(), model.classify.weights()); }

Batch<double> linear_population_batch(std::size_t classes, std::size_t patches) {
  const double numbers =
      static_cast<double>(classes) * static_cast<double>(patches) * (static_cast<double>(classes) + 1);
  if (numbers > most_numbers) {
    throw UsageError("population: expected at most " + fixed(most_numbers, 0) +
                     " numbers in C mosaics of m patches of C + 1, found " + fixed(numbers, 0));
  }
  const Mosaics mosaics = make_linear_population(classes, patches);
  std::vector<std::size_t> all(mosaics.count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return make_batch<double>(mosaics, all);
}

std::vector<DescentPoint> descend_population(const LossFunction<double>& loss, const DescentOptions& options,
                                             const std::function<void(std::size_t)>& on_step) {
  if (!(options.step > 0) || !std::isfinite(options.step)) {
    throw UsageError("step: expected a number above 0, found " + shortest(options.step));
  }
  if (options.every == 0) throw UsageError("every: expected at least 1, found 0");
  const SingleThreadedBlas single;
  const Batch<double> batch = linear_population_batch(options.classes, options.patches);
  Model<double> model = make_linear_model(options.classes);
  ModelGradient<double> gradient(model);
  Graph<double> graph(model);
  std::vector<DescentPoint> path{{0, gaps_of(model)}};
  for (std::size_t step = 1; step <= options.steps; ++step) {
    gradient.clear();
    graph.clear(&gradient);
    graph.backward(loss(graph, batch));
    descend(model.focus.weights(), gradient.focus, options.step);
    descend(model.classify.weights(), gradient.classify, options.step);
    if (step % options.every == 0 || step == options.steps) {
      path.push_back({step, gaps_of(model)});
      if (!std::isfinite(path.back().gaps.off_shape)) {
        throw DivergedError("population: expected finite weights, found others at step " + std::to_string(step));
      }
    }
    if (on_step) on_step(step);
  }
  return path;
}

}  // namespace fcam
