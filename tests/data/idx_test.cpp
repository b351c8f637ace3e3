#include "fcam/data/idx.h"

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const std::vector<std::string> ten_digits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width) {
  return big_endian(2051) + big_endian(count) + big_endian(height) + big_endian(width) +
         varied_bytes(count * height * width);
}

std::string idx_labels(std::uint32_t count) {
  std::string bytes = big_endian(2049) + big_endian(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

// A folder with the files of one data set, and its reading.
struct Files {
  TemporaryFolder folder;
  std::string images = folder.file("train-images-idx3-ubyte"), labels = folder.file("train-labels-idx1-ubyte");

  Files(const std::string& image_bytes, const std::string& label_bytes) {
    write_file(images, image_bytes);
    write_file(labels, label_bytes);
  }
  Images read() const { return read_mnist(folder.path().string(), Split::train); }
};

}  // namespace

TEST_CASE("IDX images and labels are read in order", "[data]") {
  const Images images = Files(idx_images(12, 3, 5), idx_labels(12)).read();
  CHECK(images.count() == 12);
  CHECK(images.shape() == Shape{1, 3, 5});
  CHECK(images.has_bytes());
  CHECK(images.class_names() == ten_digits);
  CHECK(images.labels()[11] == 1);
  const std::string pixels = varied_bytes(12 * 15);
  CHECK(std::string(images.bytes(0), images.bytes(0) + pixels.size()) == pixels);
}

TEST_CASE("the class names are those of the data set", "[data]") {
  const Files files(idx_images(10, 2, 2), idx_labels(10));
  const Images fashion = read_fashion_mnist(files.folder.path().string(), Split::train);
  REQUIRE(fashion.class_names().size() == 10);
  CHECK(fashion.class_names().front() == "T-shirt/top");
  CHECK(fashion.class_names().back() == "Ankle boot");
}

TEST_CASE("IDX files may be raw, packed, or packed without saying so: the content is the same", "[data]") {
  const std::string images = idx_images(20, 4, 4), labels = idx_labels(20);
  const std::uint64_t hash = content_hash(Files(images, labels).read());
  CHECK(content_hash(Files(gzip(images), gzip(labels)).read()) == hash);
  const TemporaryFolder folder;
  write_file(folder.file("train-images-idx3-ubyte.gz"), gzip(images));
  write_file(folder.file("train-labels-idx1-ubyte.gz"), labels);
  CHECK(content_hash(read_mnist(folder.path().string(), Split::train)) == hash);
}

TEST_CASE("all spellings of IDX file names are found", "[data]") {
  for (const std::string separator : {"-", "."}) {
    for (const std::string ending : {"", ".gz"}) {
      const TemporaryFolder folder;
      write_file(folder.file("t10k-images" + separator + "idx3-ubyte" + ending), gzip(idx_images(3, 2, 2)));
      write_file(folder.file("t10k-labels" + separator + "idx1-ubyte" + ending), gzip(idx_labels(3)));
      CHECK(read_mnist(folder.path().string(), Split::test).count() == 3);
    }
  }
}

TEST_CASE("without IDX files the names looked for are listed", "[data]") {
  const TemporaryFolder folder;
  check_error([&] { read_mnist(folder.path().string(), Split::test); },
              {folder.path().string(), "expected one of t10k-images-idx3-ubyte, t10k-images-idx3-ubyte.gz",
               "t10k-images.idx3-ubyte, t10k-images.idx3-ubyte.gz", "found no such file"});
}

TEST_CASE("IDX images without their labels are refused", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("train-images-idx3-ubyte"), idx_images(3, 2, 2));
  check_error([&] { read_mnist(folder.path().string(), Split::train); }, {"expected one of train-labels-idx1-ubyte"});
}

TEST_CASE("IDX labels in the place of images are recognised, and the other way round", "[data]") {
  const Files swapped(idx_labels(100), idx_images(100, 2, 2));
  check_error([&] { swapped.read(); },
              {swapped.images, "expected magic 2051 (these are images)", "found magic 2049 (these are labels)"});
  const Files twice(idx_images(100, 2, 2), idx_images(100, 2, 2));
  check_error([&] { twice.read(); }, {twice.labels, "expected magic 2049", "found magic 2051"});
}

TEST_CASE("a file of another kind is refused by its magic", "[data]") {
  const Files files("PNG? not an IDX file", idx_labels(1));
  check_error([&] { files.read(); }, {files.images, "expected magic 2051", "found magic 1347307327"});
}

TEST_CASE("empty files and files of a header alone are refused, each for its own reason", "[data]") {
  const std::string labels = idx_labels(100), whole = idx_images(100, 2, 2);
  for (const std::size_t size : {0, 3, 15}) {
    const Files files(whole.substr(0, size), labels);
    check_error([&] { files.read(); }, {files.images, "expected an IDX header of 16 bytes",
                                        "found a file of " + std::to_string(size) + " bytes"});
  }
  const Files header(whole.substr(0, 16), labels);
  check_error([&] { header.read(); }, {header.images, "expected 100x2x2 bytes", "found 0 bytes"});
  const Files short_labels(whole, labels.substr(0, 7));
  check_error([&] { short_labels.read(); },
              {short_labels.labels, "expected an IDX header of 8 bytes", "found a file of 7 bytes"});
}

TEST_CASE("an IDX file that is too short or too long is refused with the remainder", "[data]") {
  const std::string whole = idx_images(100, 28, 28);
  const Files cut(whole.substr(0, 16 + 99 * 784 + 368), idx_labels(100));
  check_error([&] { cut.read(); },
              {cut.images, "expected 100x28x28 bytes", "found 77984 bytes (99 whole items, remainder 368)"});
  const Files at_boundary(whole.substr(0, 16 + 50 * 784), idx_labels(100));
  check_error([&] { at_boundary.read(); }, {"found 39200 bytes (50 whole items, remainder 0)"});
  const Files extended(whole + "x", idx_labels(100));
  check_error([&] { extended.read(); }, {"(100 whole items, remainder 1)"});
  const Files label_cut(whole, idx_labels(100).substr(0, 107));
  check_error([&] { label_cut.read(); }, {label_cut.labels, "expected 100 bytes after the header", "found 99 bytes"});
}

TEST_CASE("a cut gzip IDX file is refused with the bytes wanted and got", "[data]") {
  const std::string packed = gzip(idx_images(100, 28, 28));
  const Files cut(packed.substr(0, packed.size() * 6 / 10), idx_labels(100));
  check_error([&] { cut.read(); }, {cut.images, "expected 78416 bytes", "found 4", "packed bytes"});
}

TEST_CASE("sizes in an IDX header that overflow are refused without allocating them", "[data]") {
  const std::string huge =
      big_endian(2051) + big_endian(0xffffffffu) + big_endian(0xffffffffu) + big_endian(0xffffffffu);
  const Files files(huge + "0123", idx_labels(100));
  check_error([&] { files.read(); }, {files.images, "expected 4294967295x4294967295x4294967295", "found 4 bytes"});
}

TEST_CASE("an IDX file without samples is refused", "[data]") {
  const Files none(idx_images(0, 28, 28), idx_labels(0));
  check_error([&] { none.read(); }, {none.images, "expected at least one item", "no samples: 0x28x28"});
  const Files flat(idx_images(5, 0, 28), idx_labels(5));
  check_error([&] { flat.read(); }, {flat.images, "5x0x28"});
}

TEST_CASE("as many IDX labels as images are needed", "[data]") {
  const Files files(idx_images(100, 2, 2), idx_labels(99));
  check_error([&] { files.read(); }, {files.labels, "expected 100 labels", files.images, "found 99"});
}

TEST_CASE("an IDX label out of range is refused with its index", "[data]") {
  std::string labels = idx_labels(20);
  labels[8 + 13] = 10;
  const Files files(idx_images(20, 2, 2), labels);
  check_error([&] { files.read(); }, {files.labels, "expected labels below 10", "found 10 at index 13"});
}

TEST_CASE("IDX images that serve training and test are refused, under whatever link", "[data]") {
  const Files files(idx_images(10, 2, 2), idx_labels(10));
  write_file(files.folder.file("t10k-labels-idx1-ubyte"), idx_labels(10));
  const std::string test = files.folder.file("t10k-images-idx3-ubyte");
  std::filesystem::create_symlink("train-images-idx3-ubyte", test);
  for (const bool hard : {false, true}) {
    if (hard) {
      std::filesystem::remove(test);
      std::filesystem::create_hard_link(files.images, test);
    }
    for (const Split split : {Split::train, Split::test}) {
      check_error([&] { read_mnist(files.folder.path().string(), split); },
                  {"t10k-images-idx3-ubyte", "not used for training", "the same file as", "train-images-idx3-ubyte"});
    }
  }
  std::filesystem::remove(test);
  write_file(test, idx_images(10, 2, 2));
  CHECK(read_mnist(files.folder.path().string(), Split::test).count() == 10);
  CHECK(mnist_files(files.folder.path().string()).size() == 4);
}
