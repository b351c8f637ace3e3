#include "fcam/analysis/shards.h"

#include "fcam/base/error.h"

namespace fcam {

template <class T>
void load(const Mosaics& mosaics, std::span<const std::size_t> indices, Mosaic& scratch, Batch<T>& batch) {
  const std::size_t bag_size = mosaics.patches() * element_count(mosaics.shape());
  TensorShape shape{indices.size(), mosaics.patches()};
  for (const std::size_t size : mosaics.shape()) shape.push_back(size);
  batch.x.resize(shape);
  batch.label.resize(indices.size());
  batch.z.resize(indices.size());
  batch.index.assign(indices.begin(), indices.end());
  for (std::size_t b = 0; b < indices.size(); ++b) {
    mosaics.draw(indices[b], scratch);
    mosaics.copy(scratch, batch.x.data() + b * bag_size);
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

#define FCAM_INSTANTIATE(T)                                                             \
  template void load(const Mosaics&, std::span<const std::size_t>, Mosaic&, Batch<T>&); \
  template void require_fit(const Model<T>&, const Mosaics&);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
