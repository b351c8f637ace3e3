#include <cassert>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>

#include "fcam/base/error.h"
#include "fcam/data/class_names.h"
#include "fcam/data/npy.h"

namespace fcam {
namespace {

// The files of a set, written aside until all are whole.
class NewSet {
 public:
  explicit NewSet(std::string folder) : folder_(std::move(folder)) {}

  AtomicFile& file(const std::string& name) { return files_.try_emplace(name, folder_ + "/" + name).first->second; }

  // Readers look for the decisive file first: without it there is no set, whatever else is in the folder.
  void commit() {
    for (auto& [name, file] : files_) file.flush();
    const std::string decisive = npy_export_files.front();
    files_.at(decisive).remove_former();
    for (const std::string name : npy_export_files) {
      if (!files_.contains(name)) remove_file(folder_ + "/" + name);
    }
    for (auto& [name, file] : files_) {
      if (name != decisive) file.commit();
    }
    files_.at(decisive).commit();
  }

 private:
  std::string folder_;
  std::map<std::string, AtomicFile> files_;
};

template <class T, class ItemOf>
void write_items(AtomicFile& file, const Mosaics& mosaics, const std::function<void()>& on_mosaic,
                 const ItemOf& item_of) {
  Shape shape{mosaics.count(), mosaics.patches()};
  shape.insert(shape.end(), mosaics.shape().begin(), mosaics.shape().end());
  NpyWriter<T> writer(file, shape);
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    if (on_mosaic) on_mosaic();
    mosaics.draw(i, mosaic);
    for (const std::size_t item : mosaic.images) writer.append(item_of(item), element_count(mosaics.shape()));
  }
  writer.finish();
}

template <class NumberOf>
void write_numbers(AtomicFile& file, const Mosaics& mosaics, const NumberOf& number_of) {
  NpyWriter<std::int64_t> writer(file, {mosaics.count()});
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    mosaics.draw(i, mosaic);
    const std::int64_t number = number_of(mosaic);
    writer.append(&number, 1);
  }
  writer.finish();
}

void write_split(NewSet& set, Split split, const Mosaics& mosaics, const std::function<void()>& on_mosaic) {
  const auto file = [&](char letter) -> AtomicFile& {
    return set.file(std::string(1, letter) + "_" + to_string(split) + ".npy");
  };
  const Images& images = mosaics.images();
  if (images.has_bytes()) {
    write_items<std::uint8_t>(file('x'), mosaics, on_mosaic, [&](std::size_t item) { return images.bytes(item); });
  } else {
    write_items<float>(file('x'), mosaics, on_mosaic, [&](std::size_t item) { return images.values(item); });
  }
  write_numbers(file('y'), mosaics, [](const Mosaic& mosaic) { return mosaic.label; });
  if (mosaics.knows_positions()) {
    write_numbers(file('z'), mosaics, [](const Mosaic& mosaic) { return mosaic.z; });
  }
}

}  // namespace

void check_npy_export(const std::string& folder, const Mosaics& train, const Mosaics& test) {
  for (const Mosaics* mosaics : {&train, &test}) class_names_text(mosaics->class_names(), "npy");
  for (const std::string name : {"x.npy", "y.npy", "z.npy"}) {
    std::error_code no_folder;
    if (!std::filesystem::exists(folder + "/" + name, no_folder)) continue;
    throw UsageError("npy: expected a folder without files of another data set, found " + name + " in " +
                     quote(folder));
  }
}

void write_npy_bags(const std::string& folder, const Mosaics& train, const Mosaics& test,
                    const std::function<void()>& on_mosaic) {
  assert(train.class_names() == test.class_names());
  check_npy_export(folder, train, test);
  NewSet set(folder);
  write_split(set, Split::train, train, on_mosaic);
  write_split(set, Split::test, test, on_mosaic);
  set.file("class_names.txt").write(class_names_text(train.class_names(), "npy"));
  set.commit();
}

}  // namespace fcam
