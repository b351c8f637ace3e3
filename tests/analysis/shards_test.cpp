#include "fcam/analysis/shards.h"

#include <mutex>
#include <stdexcept>

#include "support/errors.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

struct Piece {
  std::size_t number, first, size;
  std::vector<int> label;
  std::vector<float> x;
};

// The shards of a batch, by number.
std::vector<Piece> pieces_of(const Mosaics& mosaics, std::span<const std::size_t> indices, int threads) {
  const Model<float> model = numbered_model();
  Workers workers(threads);
  Shards<float> shards(model, workers);
  std::vector<Piece> pieces(Shards<float>::count);
  std::size_t used = 0;
  std::mutex mutex;
  shards.run(mosaics, indices, {}, [&](Shard<float>& shard) {
    const std::lock_guard lock(mutex);
    pieces.at(shard.number) = {shard.number,
                               shard.first,
                               shard.batch.size(),
                               shard.batch.label,
                               {shard.batch.x.data(), shard.batch.x.data() + shard.batch.x.size()}};
    ++used;
  });
  pieces.resize(used);
  return pieces;
}

}  // namespace

TEST_CASE("a loaded batch has patches, labels and positions of the mosaics asked for, in that order", "[analysis]") {
  const Mosaics mosaics = shapes_mosaics(20, 4);
  const std::vector<std::size_t> indices{7, 0, 19};
  Mosaic scratch;
  Batch<double> batch;
  load<double>(mosaics, indices, {}, scratch, batch);
  CHECK(shape_of(batch.x) == Shape{3, 4, 3, 16, 16});
  const std::size_t bag = 4 * 3 * 16 * 16;
  std::vector<double> expected(bag);
  for (std::size_t b = 0; b < indices.size(); ++b) {
    Mosaic mosaic;
    mosaics.draw(indices[b], mosaic);
    mosaics.copy(mosaic, expected.data());
    CHECK(std::equal(expected.begin(), expected.end(), batch.x.data() + b * bag));
    CHECK(batch.label[b] == mosaic.label);
    CHECK(batch.z[b] == mosaic.z);
  }
}

TEST_CASE("augmented patches are those of augment(), a function of seed and mosaic", "[analysis]") {
  const Mosaics mosaics = shapes_mosaics(20, 2);
  const LoadOptions options{.augmentation = {.flip = true, .crop = true}, .draw_seed = 7};
  const Batch<float> plain = make_batch(mosaics, std::vector<std::size_t>{3, 11});
  const Batch<float> changed = make_batch(mosaics, std::vector<std::size_t>{11, 3}, options);
  Batch<float> expected = plain;
  const std::size_t patch = 3 * 16 * 16;
  for (std::size_t b = 0; b < 2; ++b) {
    Random random(7, "augmentation", plain.index[b]);
    for (std::size_t j = 0; j < 2; ++j) {
      augment(options.augmentation, mosaics.shape(), random, expected.x.data() + (2 * b + j) * patch);
    }
  }
  CHECK_FALSE(std::equal(expected.x.data(), expected.x.data() + expected.x.size(), plain.x.data()));
  CHECK(std::equal(expected.x.data(), expected.x.data() + 2 * patch, changed.x.data() + 2 * patch));
  CHECK(std::equal(expected.x.data() + 2 * patch, expected.x.data() + 4 * patch, changed.x.data()));
  CHECK(changed.draw_seed == 7);
}

TEST_CASE("loading a smaller batch reuses the memory of a larger one", "[analysis]") {
  const Mosaics mosaics = numbered_bags(20, 4);
  Mosaic scratch;
  Batch<float> batch;
  load<float>(mosaics, first_indices(20), {}, scratch, batch);
  const float* const memory = batch.x.data();
  load<float>(mosaics, first_indices(5), {}, scratch, batch);
  CHECK(batch.x.data() == memory);
  CHECK(batch.size() == 5);
  CHECK(batch.x.size() == 20);
}

TEST_CASE("every mosaic of a batch is in one shard, in order, and shards differ by one mosaic at most", "[analysis]") {
  const Mosaics mosaics = numbered_bags(300, 2);
  for (const int threads : {1, 3}) {
    for (const std::size_t size : {1, 7, 16, 17, 31, 256, 300}) {
      CAPTURE(threads, size);
      const auto pieces = pieces_of(mosaics, first_indices(size), threads);
      CHECK(pieces.size() == std::min(size, Shards<float>::count));
      std::size_t done = 0;
      for (const Piece& piece : pieces) {
        CHECK(piece.first == done);
        CHECK(piece.size - size / pieces.size() <= 1);
        for (std::size_t b = 0; b < piece.size; ++b) {
          CHECK(piece.x[2 * b] == static_cast<float>(2 * (done + b)));
          CHECK(piece.label[b] == static_cast<int>((done + b) % 3));
        }
        done += piece.size;
      }
      CHECK(done == size);
    }
  }
}

TEST_CASE("no mosaics make no shards", "[analysis]") { CHECK(pieces_of(numbered_bags(3, 2), {}, 2).empty()); }

TEST_CASE("an exception in a shard comes out on the caller's thread", "[analysis]") {
  const Model<float> model = numbered_model();
  Workers workers(2);
  Shards<float> shards(model, workers);
  const auto fail = [](Shard<float>& shard) {
    if (shard.number == 5) throw std::runtime_error("shard five");
  };
  const auto indices = first_indices(20);
  CHECK_THROWS_WITH(shards.run(numbered_bags(20, 2), indices, {}, fail), "shard five");
}

TEST_CASE("a model for other patches does not fit; both shapes are named", "[analysis]") {
  check_error<UsageError>([] { require_fit(shapes_model(), numbered_bags(4, 2)); },
                          {"expected patches of 3x16x16", "found data with patches of 1"});
}

TEST_CASE("a model for other classes does not fit; both numbers are named", "[analysis]") {
  const Model<float> model({1}, 4, {.focus = "linear", .classify = "linear"});
  check_error<UsageError>([&] { require_fit(model, numbered_bags(4, 2)); },
                          {"expected data with 4 foreground classes", "found 3"});
}

TEST_CASE("a model fits mosaics of any number of patches", "[analysis]") {
  for (const std::size_t m : {1, 2, 9}) CHECK_NOTHROW(require_fit(numbered_model(), numbered_bags(4, m)));
}
