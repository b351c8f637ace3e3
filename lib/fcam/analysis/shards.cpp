#include "fcam/analysis/shards.h"

#include "fcam/base/error.h"

namespace fcam {

template <class T>
void load(const Mosaics& mosaics, std::span<const std::size_t> indices, const LoadOptions& options, Mosaic& scratch,
          Batch<T>& batch) {
  const std::size_t patch_size = element_count(mosaics.shape()), bag_size = mosaics.patches() * patch_size;
  TensorShape shape{indices.size(), mosaics.patches()};
  for (const std::size_t size : mosaics.shape()) shape.push_back(size);
  batch.x.resize(shape);
  batch.label.resize(indices.size());
  batch.z.resize(indices.size());
  batch.index.assign(indices.begin(), indices.end());
  batch.draw_seed = options.draw_seed;
  for (std::size_t b = 0; b < indices.size(); ++b) {
    mosaics.draw(indices[b], scratch);
    T* const bag = batch.x.data() + b * bag_size;
    mosaics.copy(scratch, bag);
    if (options.augmentation) {
      Random random(options.draw_seed, "augmentation", indices[b]);
      for (std::size_t j = 0; j < mosaics.patches(); ++j) {
        augment(options.augmentation, mosaics.shape(), random, bag + j * patch_size);
      }
    }
    batch.label[b] = scratch.label;
    batch.z[b] = scratch.z;
  }
}

template <class T>
void require_fit(const Model<T>& model, const Mosaics& mosaics) {
  if (model.patch_shape() != mosaics.shape()) {
    throw UsageError("model: expected patches of " + to_string(model.patch_shape()) + ", found data with patches of " +
                     to_string(mosaics.shape()));
  }
  if (model.classes() != mosaics.classes()) {
    throw UsageError("model: expected data with " + std::to_string(model.classes()) + " foreground classes, found " +
                     std::to_string(mosaics.classes()));
  }
}

#define FCAM_INSTANTIATE(T)                                                                                 \
  template void load(const Mosaics&, std::span<const std::size_t>, const LoadOptions&, Mosaic&, Batch<T>&); \
  template void require_fit(const Model<T>&, const Mosaics&);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
