// A byte that chooses the data set and its labels, a part with the names of classes, then the file of records.
#include "fcam/data/cifar.h"

#include "fuzz.h"

namespace {

struct Files {
  fcam::fuzz::MemoryFile records, names;
  fcam::fuzz::MemoryFolder folder;

  Files() {
    for (const char* name : {"test_batch.bin", "test.bin"}) folder.link(name, records.with(""));
    for (const char* name : {"batches.meta.txt", "fine_label_names.txt", "coarse_label_names.txt"}) {
      folder.link(name, names.with(""));
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files files;
  fcam::fuzz::Parts parts(data, size);
  const int choice = parts.byte() % 3;
  files.names.with(parts.part());
  files.records.with(parts.rest());
  fcam::fuzz::attempt(size, fcam::fuzz::factor_of(parts.rest()), [&] {
    const fcam::Images read =
        choice == 0 ? fcam::read_cifar10(files.folder.path(), fcam::Split::test)
                    : fcam::read_cifar100(files.folder.path(), fcam::Split::test,
                                          choice == 1 ? fcam::Cifar100Labels::fine : fcam::Cifar100Labels::coarse);
    fcam::content_hash(read);
  });
  return 0;
}
