#include <cmath>
#include <limits>

#include "data_files.h"
#include "fcam/data/npy.h"

using namespace fcam;
using namespace fcam::test;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Integers = std::vector<std::int64_t>;

// A folder of npy files, and their reading.
struct NpyFolder {
  TemporaryFolder folder;

  template <class T>
  NpyFolder& with(const std::string& name, const Shape& shape, const std::vector<T>& values) {
    write_npy(folder.file(name + ".npy"), shape, values);
    return *this;
  }
  std::string path() const { return folder.path().string(); }
  Images images(Split split = Split::train) const { return read_npy_images(path(), split); }
  Mosaics bags(Split split = Split::train) const { return read_npy_bags(path(), split); }
};

Bytes counting(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

Mosaic drawn(const Mosaics& bags, std::size_t i) {
  Mosaic bag;
  bags.draw(i, bag);
  return bag;
}

}  // namespace

TEST_CASE("npy items may be vectors, grey images or images with channels", "[data]") {
  CHECK(
      NpyFolder().with("x_train", {2, 12}, counting(24)).with<std::int64_t>("y_train", {2}, {0, 1}).images().shape() ==
      Shape{12});
  CHECK(NpyFolder()
            .with("x_train", {2, 3, 4}, counting(24))
            .with<std::int64_t>("y_train", {2}, {0, 1})
            .images()
            .shape() == Shape{1, 3, 4});
  CHECK(NpyFolder()
            .with("x_train", {2, 3, 2, 2}, counting(24))
            .with<std::int64_t>("y_train", {2}, {0, 1})
            .images()
            .shape() == Shape{3, 2, 2});
}

TEST_CASE("npy items of bytes stay bytes, those of numbers become float", "[data]") {
  NpyFolder files;
  files.with<std::int64_t>("y_train", {2}, {0, 1});
  files.with("x_train", {2, 2}, counting(4));
  CHECK(files.images().bytes(1)[1] == 3);
  files.with<float>("x_train", {2, 2}, {1, 2, 3, 0.5f});
  CHECK(files.images().values(1)[1] == 0.5f);
  files.with<double>("x_train", {2, 2}, {1, 2, 3, 0.1});
  CHECK(files.images().values(1)[1] == 0.1f);
  files.with<std::int64_t>("x_train", {2, 2}, {1, 2, 3, -7});
  CHECK(files.images().values(1)[1] == -7.0f);
  CHECK_FALSE(files.images().has_bytes());
}

TEST_CASE("npy classes are the numbers up to the largest label of the training file", "[data]") {
  NpyFolder files;
  files.with("x_train", {3, 2}, counting(6)).with<std::int64_t>("y_train", {3}, {4, 0, 2});
  files.with("x_test", {2, 2}, counting(4)).with<std::uint8_t>("y_test", {2}, {1, 3});
  CHECK(files.images().class_names() == std::vector<std::string>{"0", "1", "2", "3", "4"});
  CHECK(files.images(Split::test).class_names() == files.images().class_names());
  CHECK(files.images(Split::test).labels() == std::vector<int>{1, 3});
}

TEST_CASE("an npy test label beyond the training classes is refused", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2}, counting(4)).with<std::int64_t>("y_train", {2}, {0, 1});
  files.with("x_test", {2, 2}, counting(4)).with<std::int64_t>("y_test", {2}, {1, 2});
  check_error([&] { files.images(Split::test); },
              {"y_test.npy", "expected integers from 0 to 1", "found 2 at index 1"});
}

TEST_CASE("npy labels must be non-negative integers of a sensible size", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2}, counting(4));
  files.with<std::int64_t>("y_train", {2}, {0, -1});
  check_error([&] { files.images(); }, {"y_train.npy", "expected integers from 0 to 99999", "found -1 at index 1"});
  files.with<std::int64_t>("y_train", {2}, {1LL << 32, 0});
  check_error([&] { files.images(); }, {"found 4294967296 at index 0"});
  files.with<double>("y_train", {2}, {0, 1});
  check_error([&] { files.images(); }, {"y_train.npy", "expected integers (u1, i4 or i8)", "found floating-point"});
  files.with<std::int64_t>("y_train", {2, 1}, {0, 1});
  check_error([&] { files.images(); }, {"y_train.npy", "expected an array of one axis", "found 2x1"});
  files.with<std::int64_t>("y_train", {}, {0});
  check_error([&] { files.images(); }, {"y_train.npy", "expected an array of one axis", "found scalar"});
}

TEST_CASE("as many npy labels as items are needed", "[data]") {
  NpyFolder files;
  files.with("x_train", {3, 2}, counting(6)).with<std::int64_t>("y_train", {2}, {0, 1});
  check_error([&] { files.images(); }, {"y_train.npy", "expected 3 numbers", "x_train.npy", "found 2"});
}

TEST_CASE("an npy data set without samples is refused", "[data]") {
  NpyFolder files;
  files.with<float>("x_train", {0, 3, 32, 32}, {}).with<std::int64_t>("y_train", {0}, {});
  check_error([&] { files.images(); }, {"x_train.npy", "expected at least one number", "no samples: shape 0x3x32x32"});
  files.with("x_train", {1, 2}, counting(2));
  check_error([&] { files.images(); }, {"y_train.npy", "no samples"});
}

TEST_CASE("npy items of an unsuitable rank are refused", "[data]") {
  NpyFolder files;
  files.with<std::int64_t>("y_train", {1}, {0});
  files.with("x_train", {}, counting(1));
  check_error([&] { files.images(); }, {"x_train.npy", "expected shape (N,P), (N,H,W) or (N,C,H,W)", "found scalar"});
  files.with("x_train", {4}, counting(4));
  check_error([&] { files.images(); }, {"found 4"});
  files.with("x_train", {1, 1, 1, 2, 2}, counting(4));
  check_error([&] { files.images(); }, {"found 1x1x1x2x2"});
}

TEST_CASE("npy numbers that are not finite, or not as float, are refused with their index", "[data]") {
  NpyFolder files;
  files.with<std::int64_t>("y_train", {2}, {0, 1});
  files.with<float>("x_train", {2, 2}, {0, 1, 2, std::nanf("")});
  check_error([&] { files.images(); }, {"x_train.npy", "expected finite numbers", "found nan at flat index 3"});
  files.with<double>("x_train", {2, 2}, {0, -std::numeric_limits<double>::infinity(), 2, 3});
  check_error([&] { files.images(); }, {"found -inf at flat index 1"});
  files.with<double>("x_train", {2, 2}, {1e300, 1, 2, 3});
  check_error([&] { files.images(); }, {"found inf at flat index 0"});
}

TEST_CASE("a missing npy file is named", "[data]") {
  const NpyFolder files;
  check_error([&] { files.images(); }, {files.path(), "expected x_train.npy", "found no such file"});
  check_error([&] { npy_holds_bags(files.path()); }, {files.path(), "expected x_train.npy"});
  NpyFolder without_labels;
  without_labels.with("x_train", {1, 1}, counting(1));
  check_error([&] { without_labels.images(); }, {"expected y_train.npy", "found no such file"});
}

TEST_CASE("npy bags keep patches, labels and positions", "[data]") {
  NpyFolder files;
  files.with("x_train", {3, 2, 4}, counting(24))
      .with<std::int64_t>("y_train", {3}, {2, 0, 1})
      .with<std::int64_t>("z_train", {3}, {1, 0, 1});
  const Mosaics bags = files.bags();
  CHECK(bags.count() == 3);
  CHECK(bags.patches() == 2);
  CHECK(bags.shape() == Shape{4});
  CHECK(bags.class_names() == std::vector<std::string>{"0", "1", "2"});
  CHECK(bags.knows_positions());
  const Mosaic bag = drawn(bags, 2);
  CHECK(bag.label == 1);
  CHECK(bag.z == 1);
  CHECK(bags.images().bytes(bag.images[1])[0] == 20);
}

TEST_CASE("npy bags may hold images, and need no positions", "[data]") {
  NpyFolder files;
  files.with<std::int64_t>("y_train", {2}, {0, 1});
  files.with("x_train", {2, 3, 2, 2}, counting(24));
  CHECK(files.bags().shape() == Shape{1, 2, 2});
  CHECK(files.bags().patches() == 3);
  CHECK_FALSE(files.bags().knows_positions());
  files.with("x_train", {2, 1, 3, 2, 2}, counting(24));
  CHECK(files.bags().shape() == Shape{3, 2, 2});
  CHECK(files.bags().patches() == 1);
}

TEST_CASE("the test split of npy bags has its own files and the training classes", "[data]") {
  NpyFolder files;
  files.with("x_train", {1, 2, 1}, counting(2)).with<std::int64_t>("y_train", {1}, {3});
  files.with("x_test", {2, 2, 1}, counting(4))
      .with<std::int64_t>("y_test", {2}, {0, 2})
      .with<std::int64_t>("z_test", {2}, {0, 1});
  const Mosaics bags = files.bags(Split::test);
  CHECK(bags.count() == 2);
  CHECK(bags.classes() == 4);
  CHECK(drawn(bags, 1).z == 1);
}

TEST_CASE("npy positions must fit the bags", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2, 3}, counting(12)).with<std::int64_t>("y_train", {2}, {0, 1});
  files.with<std::int64_t>("z_train", {2}, {0, 2});
  check_error([&] { files.bags(); }, {"z_train.npy", "expected integers from 0 to 1", "found 2 at index 1"});
  files.with<std::int64_t>("z_train", {2}, {-1, 0});
  check_error([&] { files.bags(); }, {"z_train.npy", "found -1 at index 0"});
  files.with<std::int64_t>("z_train", {1}, {0});
  check_error([&] { files.bags(); }, {"z_train.npy", "expected 2 numbers", "x_train.npy", "found 1"});
  files.with<float>("z_train", {2}, {0, 1});
  check_error([&] { files.bags(); }, {"z_train.npy", "expected integers"});
}

TEST_CASE("npy bags of an unsuitable rank are refused", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2}, counting(4)).with<std::int64_t>("y_train", {2}, {0, 1});
  check_error([&] { files.bags(); }, {"x_train.npy", "expected bags of shape (N,m,P)", "found 2x2"});
}

TEST_CASE("npy data are bags if they have positions or five axes", "[data]") {
  NpyFolder files;
  files.with("x_train", {1, 1, 1, 2}, counting(2));
  CHECK_FALSE(npy_holds_bags(files.path()));
  files.with<std::int64_t>("z_train", {1}, {0});
  CHECK(npy_holds_bags(files.path()));
  NpyFolder images;
  images.with("x_train", {1, 1, 1, 1, 2}, counting(2));
  CHECK(npy_holds_bags(images.path()));
}
