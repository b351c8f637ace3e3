#include "fcam/data/images.h"

#include <limits>

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const std::vector<std::string> two_names{"cat", "dog"};

Images small_images() { return Images({1, 1, 2}, std::vector<std::uint8_t>{0, 255, 51, 102}, {1, 0}, two_names); }

}  // namespace

TEST_CASE("a byte becomes (v/255 - 0.5)/0.5", "[data]") {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t v = 0; v < bytes.size(); ++v) bytes[v] = static_cast<std::uint8_t>(v);
  const Images images({256}, bytes, {0}, {"all"});
  std::vector<float> floats(256);
  std::vector<double> doubles(256);
  images.copy(0, floats.data());
  images.copy(0, doubles.data());
  CHECK(floats[0] == -1.0f);
  CHECK(floats[255] == 1.0f);
  for (std::size_t v = 0; v < 256; ++v) {
    volatile float scaled = static_cast<float>(v) / 255.0f;
    volatile float centred = scaled - 0.5f;
    CHECK(floats[v] == centred / 0.5f);
    CHECK(doubles[v] == Approx(2.0 * static_cast<double>(v) / 255.0 - 1.0).margin(1e-15));
  }
}

TEST_CASE("items are copied one by one in their order", "[data]") {
  const Images images = small_images();
  double item[3] = {7, 7, 7};
  images.copy(1, item);
  CHECK(item[0] == Approx(-0.6));
  CHECK(item[1] == Approx(-0.2));
  CHECK(item[2] == 7);
  CHECK(images.bytes(1)[0] == 51);
}

TEST_CASE("numbers are copied unchanged", "[data]") {
  const Images images({2}, std::vector<float>{0.1f, -5, 3, 1e30f}, {0, 1}, two_names);
  CHECK_FALSE(images.has_bytes());
  float floats[2];
  double doubles[2];
  images.copy(1, floats);
  images.copy(0, doubles);
  CHECK(floats[1] == 1e30f);
  CHECK(doubles[0] == static_cast<double>(0.1f));
  CHECK(images.values(1)[0] == 3);
}

TEST_CASE("copies of a set share its pixels", "[data]") {
  const Images images = small_images();
  const Images copy = images;
  CHECK(copy.bytes(0) == images.bytes(0));
  CHECK(copy.count() == 2);
}

TEST_CASE("an empty set has no items and no classes", "[data]") {
  const Images none;
  CHECK(none.count() == 0);
  CHECK(none.class_names().empty());
  CHECK(content_hash(none) != content_hash(small_images()));
}

TEST_CASE("a set without items, or with sizes that do not agree, is refused", "[data]") {
  using Bytes = std::vector<std::uint8_t>;
  check_error(
      [] {
        Images({1, 2, 2}, Bytes{}, {}, two_names);
      },
      {"images", "expected at least one item", "found no samples"});
  check_error(
      [] {
        Images({1, 2, 2}, Bytes(9), {0, 1}, two_names);
      },
      {"expected 2 items of shape 1x2x2", "found 9 numbers"});
  check_error([] { Images({1, 2, 2}, Bytes(4), {0, 1}, two_names); }, {"found 4 numbers"});
  check_error([] { Images({2, 0}, Bytes{}, {0}, two_names); }, {"without zeros", "found 2x0"});
  check_error([] { Images({}, Bytes(1), {0}, two_names); }, {"found scalar"});
  const std::size_t half = std::size_t{1} << 63;
  check_error([&] { Images({half, 2}, Bytes{}, {0}, two_names); }, {"found 0 numbers"});
}

TEST_CASE("a label without a class is refused with its index", "[data]") {
  check_error(
      [] {
        Images({1}, std::vector<float>(3), {0, 1, 2}, two_names);
      },
      {"expected labels from 0 to below 2", "found 2 at index 2"});
  check_error([] { Images({1}, std::vector<float>(3), {0, -1, 1}, two_names); }, {"found -1 at index 1"});
}

TEST_CASE("the hash changes with whatever a set holds", "[data]") {
  using Bytes = std::vector<std::uint8_t>;
  const std::uint64_t hash = content_hash(small_images());
  CHECK(hash == content_hash(small_images()));
  CHECK(hash != content_hash(Images({1, 2, 1}, Bytes{0, 255, 51, 102}, {1, 0}, two_names)));
  CHECK(hash != content_hash(Images({1, 1, 2}, Bytes{0, 255, 51, 103}, {1, 0}, two_names)));
  CHECK(hash != content_hash(Images({1, 1, 2}, Bytes{0, 255, 51, 102}, {1, 1}, two_names)));
  CHECK(hash != content_hash(Images({1, 1, 2}, Bytes{0, 255, 51, 102}, {1, 0}, {"cat", "cow"})));
  CHECK(hash != content_hash(Images({1, 1, 2}, std::vector<float>{0, 255, 51, 102}, {1, 0}, two_names)));
}

TEST_CASE("the hash is the same on every machine", "[data]") {
  CHECK(content_hash(small_images()) == 0xd25c5ef9ab7df908u);
  CHECK(content_hash(Images({2}, std::vector<float>{0.5f, -2}, {0}, {"x"})) == 0x82714e1306225ba6u);
}

TEST_CASE("a class is found by its name or its number, the name first", "[data]") {
  CHECK(find_class(two_names, "dog") == 1);
  CHECK(find_class(two_names, "0") == 0);
  CHECK(find_class({"7", "1", "0"}, "0") == 2);
  CHECK(find_class({"0", "1", "cat"}, "2") == 2);
}

TEST_CASE("where classes are called by numbers of others, a number is a name or refused", "[data]") {
  CHECK(find_class({"1", "10", "2"}, "2") == 2);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"7", "1", "0"}, std::vector<std::string>{"cat", "dog", "3"}}) {
    check_error<UsageError>([&] { find_class(names, "2"); }, {"class: expected one of the names", "found '2'"});
  }
}

TEST_CASE("a class that does not exist is refused with the names that do", "[data]") {
  for (const std::string name : {"dgo", "2", "-1", "", "1x", " 1", "+1", "01", "99999999999999999999"}) {
    check_error<UsageError>([&] { find_class(two_names, name); }, {"expected one of cat, dog", "found '" + name + "'"});
  }
  check_error<UsageError>([&] { find_class(two_names, "dgo"); }, {"nearest: dog"});
}

TEST_CASE("splits have names", "[data]") {
  CHECK(to_string(Split::train) == "train");
  CHECK(to_string(Split::test) == "test");
}
