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
  // Files of the test that are there make x_train.npy the training set, not one set to hold a part out of.
  NpyFolder() { with<std::int64_t>("z_test", {1}, {0}); }
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

TEST_CASE("a bad number of one set is named by its place in the file, not in the part", "[data]") {
  NpyFolder files;
  std::filesystem::remove(files.folder.file("z_test.npy"));
  std::vector<float> values(40);
  std::vector<std::int64_t> labels(40);
  files.with<std::int64_t>("y", {40}, labels);
  for (const std::size_t bad : {std::size_t{0}, std::size_t{17}, std::size_t{39}}) {
    std::fill(values.begin(), values.end(), 0.0F);
    values[bad] = std::nanf("");
    files.with("x", {40, 1}, values);
    for (const Split split : {Split::train, Split::test}) {
      check_error([&] { files.images(split); }, {"x.npy", "found nan at flat index " + std::to_string(bad)});
    }
  }
}

TEST_CASE("npy numbers that are not finite, or not as float, are refused with their index", "[data]") {
  NpyFolder files;
  files.with<std::int64_t>("y_train", {2}, {0, 1});
  files.with<float>("x_train", {2, 2}, {0, 1, 2, std::nanf("")});
  check_error([&] { files.images(); }, {"x_train.npy", "expected finite numbers", "found nan at flat index 3"});
  files.with<double>("x_train", {2, 2}, {0, -std::numeric_limits<double>::infinity(), 2, 3});
  check_error([&] { files.images(); }, {"found -inf at flat index 1"});
  files.with<double>("x_train", {2, 2}, {1e300, 1, 2, 3});
  check_error([&] { files.images(); }, {"found 1e+300 at flat index 0"});
}

TEST_CASE("a missing npy file is named", "[data]") {
  const NpyFolder files;
  check_error([&] { files.images(); }, {files.path(), "expected one of x_train.npy, x.npy", "found no such file"});
  check_error([&] { npy_holds_bags(files.path()); }, {files.path(), "expected one of x_train.npy, x.npy"});
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
  std::filesystem::remove(files.folder.file("z_test.npy"));
  files.with("x_train", {1, 1, 1, 2}, counting(2));
  CHECK_FALSE(npy_holds_bags(files.path()));
  files.with<std::int64_t>("z_train", {1}, {0});
  CHECK(npy_holds_bags(files.path()));
  NpyFolder images;  // with positions of the test alone
  images.with("x_train", {1, 1, 1, 1, 2}, counting(2));
  CHECK(npy_holds_bags(images.path()));
}

TEST_CASE("npy positions of the test alone do not make bags of three or four axes, nor are they left out", "[data]") {
  NpyFolder files;
  for (const Shape& shape : {Shape{2, 1, 2}, Shape{1, 1, 2, 2}}) {
    files.with("x_train", shape, counting(4));
    check_error([&] { npy_holds_bags(files.path()); },
                {files.path(), "expected z_train.npy beside z_test.npy", "found no such file"});
  }
}

TEST_CASE("one npy file is not both training and test set", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2}, counting(4)).with<std::int64_t>("y_train", {2}, {0, 1});
  files.with<std::int64_t>("y_test", {2}, {0, 1});
  for (const bool hard : {false, true}) {
    std::filesystem::remove(files.folder.file("x_test.npy"));
    if (hard) {
      std::filesystem::create_hard_link(files.folder.file("x_train.npy"), files.folder.file("x_test.npy"));
    } else {
      std::filesystem::create_symlink("x_train.npy", files.folder.file("x_test.npy"));
    }
    for (const Split split : {Split::train, Split::test}) {
      check_error([&] { files.images(split); }, {"x_test.npy", "not used for training", "x_train.npy"});
    }
  }
}

TEST_CASE("npy data that come as one set are cut into a training and a test part", "[data]") {
  for (const std::string end : {"_train", ""}) {
    NpyFolder files;
    std::filesystem::remove(files.folder.file("z_test.npy"));
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < 40; ++i) labels.push_back(i % 4);
    files.with("x" + end, {40, 1}, counting(40)).with<std::int64_t>("y" + end, {40}, labels);
    CHECK_FALSE(npy_has_test_set(files.path()));
    const Images train = files.images(), test = files.images(Split::test);
    CHECK(train.count() == 32);
    CHECK(test.count() == 8);
    std::vector<bool> seen(40);
    for (const Images& part : {train, test}) {
      for (std::size_t i = 0; i < part.count(); ++i) {
        const std::size_t item = part.bytes(i)[0];
        CHECK_FALSE(seen.at(item));
        seen.at(item) = true;
        CHECK(part.labels()[i] == static_cast<int>(item % 4));
      }
    }
    CHECK(read_npy_images(files.path(), Split::test, 0.5).count() == 20);
  }
}

TEST_CASE("npy bags that come as one set keep labels and positions", "[data]") {
  NpyFolder files;
  std::filesystem::remove(files.folder.file("z_test.npy"));
  files.with("x", {6, 2, 3}, counting(36));
  files.with<std::int64_t>("y", {6}, {0, 1, 0, 1, 0, 1}).with<std::int64_t>("z", {6}, {0, 1, 1, 0, 0, 1});
  CHECK(npy_holds_bags(files.path()));
  std::vector<bool> seen(6);
  for (const Split split : {Split::train, Split::test}) {
    const Mosaics bags = files.bags(split);
    CHECK(bags.count() == (split == Split::train ? 4 : 2));
    for (std::size_t i = 0; i < bags.count(); ++i) {
      const Mosaic bag = drawn(bags, i);
      const std::size_t number = bags.images().bytes(bag.images[0])[0] / 6;
      CHECK(bags.images().bytes(bag.images[1])[2] == 6 * number + 5);
      CHECK(bag.label == static_cast<int>(number % 2));
      CHECK(bag.z == std::vector<int>{0, 1, 1, 0, 0, 1}[number]);
      CHECK_FALSE(seen.at(number));
      seen.at(number) = true;
    }
  }
}

TEST_CASE("npy files of one set beside files of two are refused", "[data]") {
  NpyFolder files;
  files.with("x", {2, 2}, counting(4)).with("x_train", {2, 2}, counting(4));
  check_error([&] { files.images(); }, {files.path(), "either x.npy or x_train.npy", "found both"});
  for (const std::string stray : {"y", "z"}) {
    NpyFolder two;
    two.with("x_train", {2, 2}, counting(4)).with<std::int64_t>("y_train", {2}, {0, 1});
    two.with<std::int64_t>(stray, {2}, {0, 1});
    check_error([&] { two.images(); }, {two.path(), "found both endings", stray + ".npy' beside x_train.npy"});
  }
}

TEST_CASE("npy classes have the names of class_names.txt", "[data]") {
  NpyFolder files;
  files.with("x_train", {2, 2}, counting(4)).with<std::int64_t>("y_train", {2}, {0, 1});
  write_file(files.folder.file("class_names.txt"), "cat\ndog\nhorse\n");
  CHECK(files.images().class_names() == std::vector<std::string>{"cat", "dog", "horse"});
  write_file(files.folder.file("class_names.txt"), "cat\n");
  check_error([&] { files.images(); }, {"y_train.npy", "expected integers from 0 to 0", "found 1 at index 1"});
}

TEST_CASE("bags written as npy are read back the same", "[data]") {
  const TemporaryFolder folder;
  const Images images({2, 1, 2}, counting(40), {0, 1, 2, 0, 1, 2, 0, 1, 2, 2}, {"a b", "b", "c"});
  const Mosaics drawn_ones(images, {.patches = 3, .count = 20, .foreground = {"b", "a b"}});
  write_npy_bags(folder.path().string(), drawn_ones, drawn_ones);
  for (const Split split : {Split::train, Split::test}) {
    const Mosaics bags = read_npy_bags(folder.path().string(), split);
    CHECK(bags.class_names() == std::vector<std::string>{"b", "a b"});
    CHECK(bags.shape() == Shape{2, 1, 2});
    REQUIRE(bags.count() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      const Mosaic expected = drawn(drawn_ones, i), bag = drawn(bags, i);
      CHECK(bag.label == expected.label);
      CHECK(bag.z == expected.z);
      for (std::size_t j = 0; j < 3; ++j) {
        CHECK(std::equal(images.bytes(expected.images[j]), images.bytes(expected.images[j]) + 4,
                         bags.images().bytes(bag.images[j])));
      }
    }
  }
}

TEST_CASE("nothing of an older export is read with a new one", "[data]") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  const auto bags = [](Integers z) {
    return Mosaics::from_bags(Images({1}, counting(6), {0, 0, 0, 0, 0, 0}, {"p"}), 2, {0, 1, 0}, {z.begin(), z.end()},
                              {"a", "b"});
  };
  write_npy_bags(path, bags({0, 1, 1}), bags({1, 1, 1}));
  CHECK(read_npy_bags(path, Split::test).knows_positions());
  write_npy_bags(path, bags({}), bags({}));
  CHECK_FALSE(std::filesystem::exists(folder.file("z_train.npy")));
  CHECK_FALSE(std::filesystem::exists(folder.file("z_test.npy")));
  CHECK(read_npy_shape(folder.file("x_test.npy")) == Shape{3, 2, 1});
}

TEST_CASE("an export into a folder with files of another data set is refused, and changes nothing", "[data]") {
  const Mosaics bags = Mosaics::from_bags(Images({1}, counting(2), {0, 0}, {"p"}), 2, {0}, {}, {"a"});
  for (const std::string name : {"x.npy", "y.npy", "z.npy"}) {
    const TemporaryFolder folder;
    write_file(folder.file(name), "somebody's");
    check_error<UsageError>([&] { write_npy_bags(folder.path().string(), bags, bags); },
                            {"npy: expected a folder without files of another data set", "found " + name});
    CHECK(read_file(folder.file(name)) == "somebody's");
    CHECK_FALSE(std::filesystem::exists(folder.file("x_train.npy")));
  }
}

TEST_CASE("class names that a list cannot hold are refused before anything is written", "[data]") {
  const TemporaryFolder folder;
  const std::string outer_blank = " a", line_end = "a\nb", carriage = "a\rb", zero("a\0b", 3);
  for (const std::string& name :
       {outer_blank, line_end, carriage, zero, std::string("a "), std::string("\ta"), std::string(),
        std::string("\xef\xbb\xbf"
                    "a")}) {
    const Mosaics bags = Mosaics::from_bags(Images({1}, counting(2), {0, 0}, {"p"}), 2, {0}, {}, {"good", name});
    check_error<UsageError>([&] { write_npy_bags(folder.path().string(), bags, bags); },
                            {"npy: expected class names that lines of a text can hold", "found " + quote(name)});
  }
  const Mosaics twice = Mosaics::from_bags(Images({1}, counting(2), {0, 0}, {"p"}), 2, {0}, {}, {"a", "a"});
  check_error<UsageError>([&] { write_npy_bags(folder.path().string(), twice, twice); }, {"'a' again"});
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the hash of bags changes with whatever they hold", "[data]") {
  const auto hash = [](std::vector<std::uint8_t> pixels, std::vector<int> labels, std::vector<int> z,
                       std::vector<std::string> names) {
    const Images patches({1}, std::move(pixels), {0, 0, 0, 0}, {"p"});
    return content_hash(Mosaics::from_bags(patches, 2, std::move(labels), std::move(z), std::move(names)));
  };
  const std::uint64_t first = hash({1, 2, 3, 4}, {0, 1}, {0, 1}, {"a", "b"});
  CHECK(hash({1, 2, 3, 4}, {0, 1}, {0, 1}, {"a", "b"}) == first);
  CHECK(hash({1, 2, 3, 5}, {0, 1}, {0, 1}, {"a", "b"}) != first);
  CHECK(hash({1, 2, 3, 4}, {1, 1}, {0, 1}, {"a", "b"}) != first);
  CHECK(hash({1, 2, 3, 4}, {0, 1}, {1, 1}, {"a", "b"}) != first);
  CHECK(hash({1, 2, 3, 4}, {0, 1}, {}, {"a", "b"}) != first);
  CHECK(hash({1, 2, 3, 4}, {0, 1}, {0, 1}, {"a", "c"}) != first);
}
