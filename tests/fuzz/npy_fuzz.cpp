// A byte that chooses items or bags, parts with the files of labels and of positions, then the file of items.
#include "fcam/data/npy.h"

#include "fuzz.h"

namespace {

struct Files {
  fcam::fuzz::MemoryFile x, y, z;
  fcam::fuzz::MemoryFolder folder;

  Files() {
    folder.link("x_train.npy", x.with(""));
    folder.link("y_train.npy", y.with(""));
    folder.link("z_train.npy", z.with(""));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files files;
  fcam::fuzz::Parts parts(data, size);
  const bool bags = parts.byte() % 2 == 1;
  files.y.with(parts.part());
  files.z.with(parts.part());
  const std::string path = files.x.with(parts.rest());
  // A label makes names of 32 bytes for all classes up to it, of which the reader allows 100000.
  const auto attempt = [&](auto&& read) { fcam::fuzz::attempt(size + 100'000, fcam::fuzz::plain, read); };
  attempt([&] { fcam::read_npy(path); });
  attempt([&] { fcam::npy_holds_bags(files.folder.path()); });
  attempt([&] {
    if (!bags) return static_cast<void>(fcam::read_npy_images(files.folder.path(), fcam::Split::train));
    const fcam::Mosaics read = fcam::read_npy_bags(files.folder.path(), fcam::Split::train);
    fcam::Mosaic bag;
    read.draw(read.count() - 1, bag);
  });
  return 0;
}
