#include "fcam/data/npy.h"

#include <cstdint>

namespace fcam {
namespace {

std::string path_in(const std::string& folder, char letter, Split split) {
  return folder + "/" + letter + "_" + to_string(split) + ".npy";
}

template <class T, class ItemOf>
void write_items(const std::string& path, const Mosaics& mosaics, const std::function<void()>& on_mosaic,
                 const ItemOf& item_of) {
  Shape shape{mosaics.count(), mosaics.patches()};
  shape.insert(shape.end(), mosaics.shape().begin(), mosaics.shape().end());
  NpyWriter<T> writer(path, shape);
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    if (on_mosaic) on_mosaic();
    mosaics.draw(i, mosaic);
    for (const std::size_t item : mosaic.images) writer.append(item_of(item), element_count(mosaics.shape()));
  }
  writer.finish();
}

template <class NumberOf>
void write_numbers(const std::string& path, const Mosaics& mosaics, const NumberOf& number_of) {
  NpyWriter<std::int64_t> writer(path, {mosaics.count()});
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    mosaics.draw(i, mosaic);
    const std::int64_t number = number_of(mosaic);
    writer.append(&number, 1);
  }
  writer.finish();
}

}  // namespace

void write_npy_bags(const std::string& folder, Split split, const Mosaics& mosaics,
                    const std::function<void()>& on_mosaic) {
  const Images& images = mosaics.images();
  const std::string x = path_in(folder, 'x', split);
  if (images.has_bytes()) {
    write_items<std::uint8_t>(x, mosaics, on_mosaic, [&](std::size_t item) { return images.bytes(item); });
  } else {
    write_items<float>(x, mosaics, on_mosaic, [&](std::size_t item) { return images.values(item); });
  }
  write_numbers(path_in(folder, 'y', split), mosaics, [](const Mosaic& mosaic) { return mosaic.label; });
  if (mosaics.knows_positions()) {
    write_numbers(path_in(folder, 'z', split), mosaics, [](const Mosaic& mosaic) { return mosaic.z; });
  }
  std::string names;
  for (const std::string& name : mosaics.class_names()) names += name + "\n";
  write_atomically(folder + "/class_names.txt", names);
}

}  // namespace fcam
