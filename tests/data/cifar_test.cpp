#include "fcam/data/cifar.h"

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr std::size_t pixels_size = 3 * 32 * 32;

// Records whose label bytes are those of `labels` and whose pixels are all `pixel`.
std::string records(const std::vector<std::string>& labels, char pixel) {
  std::string bytes;
  for (const std::string& label : labels) bytes += label + std::string(pixels_size, pixel);
  return bytes;
}

const std::string label_0(1, '\0'), label_3 = "\3", label_9 = "\11", label_10 = "\12";

// A folder with one test batch, and its reading.
struct TestBatch {
  TemporaryFolder folder;
  std::string path = folder.file("test_batch.bin");

  explicit TestBatch(const std::string& bytes) { write_file(path, bytes); }
  Images read() const { return read_cifar10(folder.path().string(), Split::test); }
};

}  // namespace

TEST_CASE("CIFAR-10 records are label and planes", "[data]") {
  std::string bytes = records({label_3, label_9}, 'x');
  bytes[1 + 1024] = 'g';  // the first green byte of the first image
  const Images images = TestBatch(bytes).read();
  CHECK(images.shape() == Shape{3, 32, 32});
  CHECK(images.labels() == std::vector<int>{3, 9});
  CHECK(images.bytes(0)[1023] == 'x');
  CHECK(images.bytes(0)[1024] == 'g');
  CHECK(images.bytes(1)[pixels_size - 1] == 'x');
  CHECK(images.class_names()[0] == "airplane");
  CHECK(images.class_names()[9] == "truck");
}

TEST_CASE("the five training batches of CIFAR-10 are joined in order", "[data]") {
  const TemporaryFolder folder;
  for (const char digit : {'1', '2', '3', '4', '5'}) {
    write_file(folder.file(std::string("data_batch_") + digit + ".bin"), records({label_0, label_3}, digit));
  }
  const Images images = read_cifar10(folder.path().string(), Split::train);
  REQUIRE(images.count() == 10);
  for (std::size_t i = 0; i < 10; ++i) CHECK(images.bytes(i)[7] == '1' + i / 2);
}

TEST_CASE("a missing batch of CIFAR-10 is named", "[data]") {
  const TemporaryFolder folder;
  for (const char digit : {'1', '2', '3', '5'}) {
    write_file(folder.file(std::string("data_batch_") + digit + ".bin"), records({label_0}, digit));
  }
  check_error([&] { read_cifar10(folder.path().string(), Split::train); },
              {folder.path().string(), "expected one of data_batch_4.bin", "found no such file"});
}

TEST_CASE("packed batches of CIFAR-10 give the same content", "[data]") {
  const std::string bytes = records({label_3, label_0, label_9}, 'p');
  const std::uint64_t hash = content_hash(TestBatch(bytes).read());
  CHECK(content_hash(TestBatch(gzip(bytes)).read()) == hash);
  const TemporaryFolder folder;
  write_file(folder.file("test_batch.bin.gz"), gzip(bytes));
  CHECK(content_hash(read_cifar10(folder.path().string(), Split::test)) == hash);
}

TEST_CASE("a CIFAR-10 batch that is no whole number of records is refused with the remainder", "[data]") {
  const TestBatch batch(records(std::vector<std::string>(10, label_0), 'x').substr(0, 30000));
  check_error([&] { batch.read(); },
              {batch.path, "expected whole records of 3073 bytes", "found 30000 bytes (9 records, remainder 2343)"});
  const TestBatch empty("");
  check_error([&] { empty.read(); }, {empty.path, "expected whole records", "at least one", "found 0 bytes"});
}

TEST_CASE("a packed CIFAR-10 batch cut at a record is refused", "[data]") {
  const std::string packed = gzip(label_0 + varied_bytes(pixels_size)) + gzip(label_0 + varied_bytes(pixels_size));
  const TestBatch batch(packed.substr(0, packed.size() - 8));
  check_error([&] { batch.read(); }, {batch.path, "expected gzip data with their end", "found 6146 bytes"});
}

TEST_CASE("a CIFAR-10 label out of range is refused with file and record", "[data]") {
  const TestBatch batch(records({label_0, label_3, label_10}, 'x'));
  check_error([&] { batch.read(); }, {batch.path, "expected labels below 10", "found 10 in record 2"});
}

TEST_CASE("CIFAR-10 takes its class names from the file beside it", "[data]") {
  const TestBatch batch(records({label_0}, 'x'));
  write_file(batch.folder.file("batches.meta.txt"), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  CHECK(batch.read().class_names()[9] == "j");
  write_file(batch.folder.file("batches.meta.txt"), "a\nb\n");
  check_error([&] { batch.read(); }, {batch.folder.file("batches.meta.txt"), "expected 10 class names", "found 2"});
}

TEST_CASE("CIFAR-100 records have a coarse and a fine label", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("test.bin"), records({"\x13\x63", std::string("\0\1", 2)}, 'x'));
  const Images fine = read_cifar100(folder.path().string(), Split::test);
  CHECK(fine.labels() == std::vector<int>{99, 1});
  CHECK(fine.class_names().size() == 100);
  CHECK(fine.bytes(1)[0] == 'x');
  const Images coarse = read_cifar100(folder.path().string(), Split::test, Cifar100Labels::coarse);
  CHECK(coarse.labels() == std::vector<int>{19, 0});
  CHECK(coarse.class_names().size() == 20);
}

TEST_CASE("CIFAR-100 refuses labels out of range and records of CIFAR-10", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("train.bin"), records({"\x13\x64"}, 'x'));
  check_error([&] { read_cifar100(folder.path().string(), Split::train); },
              {"train.bin", "below 100", "found 100 in record 0"});
  write_file(folder.file("train.bin"), records({"\x14\x63"}, 'x'));
  check_error([&] { read_cifar100(folder.path().string(), Split::train); }, {"below 20", "found 20 in record 0"});
  write_file(folder.file("train.bin"), records({"\x13\x63", "\x13\x64"}, 'x'));
  check_error([&] { read_cifar100(folder.path().string(), Split::train, Cifar100Labels::coarse); },
              {"below 100", "found 100 in record 1"});
  write_file(folder.file("train.bin"), records({label_0}, 'x'));
  check_error([&] { read_cifar100(folder.path().string(), Split::train); }, {"3074 bytes", "found 3073 bytes"});
}

TEST_CASE("CIFAR-100 takes the names of the labels that are asked for", "[data]") {
  const TemporaryFolder folder;
  write_file(folder.file("test.bin"), records({"\x13\x63"}, 'x'));
  std::string fine, coarse;
  for (int c = 0; c < 100; ++c) fine += "fine " + std::to_string(c) + "\r\n";
  for (int c = 0; c < 20; ++c) coarse += "coarse " + std::to_string(c) + "\n";
  write_file(folder.file("fine_label_names.txt"), "\xef\xbb\xbf" + fine + "\r\n");
  write_file(folder.file("coarse_label_names.txt"), coarse);
  CHECK(read_cifar100(folder.path().string(), Split::test).class_names()[99] == "fine 99");
  CHECK(read_cifar100(folder.path().string(), Split::test).class_names()[0] == "fine 0");
  const Images images = read_cifar100(folder.path().string(), Split::test, Cifar100Labels::coarse);
  CHECK(images.class_names()[19] == "coarse 19");
  write_file(folder.file("fine_label_names.txt"), coarse);
  check_error([&] { read_cifar100(folder.path().string(), Split::test); },
              {"fine_label_names.txt", "expected 100 class names", "found 20"});
}

TEST_CASE("a CIFAR file that serves training and test is refused, under whatever link", "[data]") {
  const TestBatch files(records({label_0}, 'x'));
  for (int i = 1; i <= 5; ++i) {
    write_file(files.folder.file("data_batch_" + std::to_string(i) + ".bin"), records({label_3}, 'y'));
  }
  CHECK(read_cifar10(files.folder.path().string(), Split::train).count() == 5);
  std::filesystem::remove(files.folder.file("data_batch_4.bin"));
  std::filesystem::create_hard_link(files.path, files.folder.file("data_batch_4.bin.gz"));
  for (const Split split : {Split::train, Split::test}) {
    check_error([&] { read_cifar10(files.folder.path().string(), split); },
                {"test_batch.bin", "not used for training", "the same file as", "data_batch_4.bin.gz"});
  }
  CHECK(cifar10_files(files.folder.path().string()).size() == 6);
  const TemporaryFolder hundred;
  write_file(hundred.file("train.bin"), records({label_0 + label_0}, 'x'));
  std::filesystem::create_symlink("train.bin", hundred.file("test.bin"));
  check_error([&] { read_cifar100(hundred.path().string(), Split::train); }, {"test.bin", "train.bin"});
}
