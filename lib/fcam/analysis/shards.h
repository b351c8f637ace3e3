// Batches of mosaics, cut into a fixed number of shards that threads work on: the same numbers for every thread count.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "fcam/attention/model.h"
#include "fcam/base/blas.h"
#include "fcam/base/parallel.h"
#include "fcam/data/augment.h"
#include "fcam/data/mosaic.h"

namespace fcam {

/// What happens to mosaics on their way into a batch.
struct LoadOptions {
  Augmentation augmentation = {};  ///< of each patch by itself, drawn from seed and mosaic
  std::uint64_t draw_seed = 0;     ///< of that, and of a loss that draws: another one for each epoch
};

/// Draws the mosaics with these indices and turns them into numbers. `scratch` and `batch` are reused.
template <class T>
void load(const Mosaics& mosaics, std::span<const std::size_t> indices, const LoadOptions& options, Mosaic& scratch,
          Batch<T>& batch);

/// The mosaics with these indices as a batch, for looking at one or checking a loss on it.
template <class T = float>
Batch<T> make_batch(const Mosaics& mosaics, std::span<const std::size_t> indices, const LoadOptions& options = {}) {
  Mosaic scratch;
  Batch<T> batch;
  load(mosaics, indices, options, scratch, batch);
  return batch;
}

/// Throws UsageError unless the model fits the patches and classes of the mosaics.
template <class T>
void require_fit(const Model<T>& model, const Mosaics& mosaics);

/// One shard, at work on one thread.
template <class T>
struct Shard {
  std::size_t number;     ///< in [0, Shards::count)
  std::size_t first;      ///< position of its first mosaic in the batch
  const Batch<T>& batch;  ///< its mosaics
  Graph<T>& graph;        ///< for the body to clear() and record on
};

template <class T>
class Shards {
 public:
  static constexpr std::size_t count = 16;

  /// The model must outlive this; the workers are used while run() runs.
  Shards(const Model<T>& model, Workers& workers)
      : workers_(&workers), patch_flops_(model.focus.flops() + model.classify.flops()) {
    for (int worker = 0; worker < workers.count(); ++worker) desks_.push_back(std::make_unique<Desk>(model));
  }

  /// Calls body(Shard&) for every shard that has mosaics, on several threads where there is work enough for them, BLAS
  /// single-threaded meanwhile.
  template <class Body>
  void run(const Mosaics& mosaics, std::span<const std::size_t> indices, const LoadOptions& options, Body&& body) {
    const SingleThreadedBlas single;
    const std::size_t used = std::min(count, indices.size());
    const bool shared = patch_flops_ * static_cast<double>(indices.size() * mosaics.patches()) >= worth_sharing;
    at_work_ = shared ? desks_.size() : 1;
    const auto work = [&](std::size_t number, int worker) {
      Desk& desk = *desks_[static_cast<std::size_t>(worker)];
      // The first shards take one mosaic more where the batch does not divide.
      const std::size_t share = indices.size() / used, rest = indices.size() % used;
      const std::size_t first = number * share + std::min(number, rest);
      {
        const ProfileTimer timer(profiling_ ? &desk.profile : nullptr, "data");
        load(mosaics, indices.subspan(first, share + (number < rest ? 1 : 0)), options, desk.scratch, desk.batch);
      }
      Shard<T> shard{number, first, desk.batch, desk.graph};
      body(shard);
    };
    workers_->run(used, work, shared);
  }

  /// From now on measures where the time of the workers goes, or no longer.
  void set_profiling(bool on) {
    profiling_ = on;
    for (auto& desk : desks_) desk->graph.set_profile(on ? &desk->profile : nullptr);
  }
  /// Moves what has been measured in the last run to `total`: seconds as the mean over the workers that had a part in
  /// it, arithmetic as the sum.
  void take_profile(Profile& total) {
    const double workers = static_cast<double>(at_work_);
    for (auto& desk : desks_) {
      for (const ProfilePart& part : desk->profile.parts()) {
        total.add(part.name, part.pass, part.seconds / workers, part.flops);
      }
      desk->profile.clear();
    }
  }

 private:
  struct Desk {
    explicit Desk(const Model<T>& model) : graph(model) {}
    Graph<T> graph;
    Batch<T> batch;
    Mosaic scratch;
    Profile profile;
  };
  // Less than some 100 us of work is done before other threads have helped: OpenBLAS's lock and cold caches cost more.
  static constexpr double worth_sharing = 1.5e6;
  Workers* workers_;
  double patch_flops_;                        // of f and g, forward
  std::size_t at_work_ = 1;                   // workers in the last run
  std::vector<std::unique_ptr<Desk>> desks_;  // one a worker
  bool profiling_ = false;
};

}  // namespace fcam
