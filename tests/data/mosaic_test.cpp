#include "fcam/data/mosaic.h"

#include <algorithm>
#include <limits>
#include <set>

#include "data_files.h"
#include "support/golden.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const std::vector<std::string> five_names{"a", "b", "c", "d", "e"};

// `count` images of one number, which is the image's index; labels 0, 1, ..., 4, 0, ...
Images numbered_images(std::size_t count) {
  std::vector<float> values(count);
  std::vector<int> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i);
    labels[i] = static_cast<int>(i % 5);
  }
  return Images({1}, values, labels, five_names);
}

Mosaic drawn(const Mosaics& mosaics, std::size_t i) {
  Mosaic mosaic;
  mosaics.draw(i, mosaic);
  return mosaic;
}

bool same(const Mosaic& a, const Mosaic& b) { return a.images == b.images && a.label == b.label && a.z == b.z; }

void check_refused(const MosaicOptions& options, std::initializer_list<std::string> parts) {
  check_error<UsageError>([&] { Mosaics(numbered_images(50), options); }, parts);
}

Mosaics three_bags(std::vector<int> labels, std::vector<int> z, std::size_t patches = 2) {
  return Mosaics::from_bags(numbered_images(6), patches, std::move(labels), std::move(z), {"no", "yes"});
}

// The draws of a set whose foreground are its first images and all else is background, as in the reference.
void check_reference(const nlohmann::json& set) {
  const std::size_t foreground = set["n_foreground"], background = set["n_background"], patches = set["m"];
  std::vector<int> labels(foreground, 0);
  labels.insert(labels.end(), background, 1);
  const Images images({1}, std::vector<std::uint8_t>(labels.size()), labels, {"foreground", "background"});
  const Mosaics mosaics(images,
                        {.patches = patches, .count = 60000, .foreground = {"foreground"}, .draws = Draws::numpy});
  for (const auto& expected : set["mosaics"]) {
    const Mosaic mosaic = drawn(mosaics, expected["index"]);
    CAPTURE(patches, foreground, expected["index"].get<int>());
    CHECK(mosaic.z == expected["z"].get<int>());
    std::vector<std::size_t> in_place;
    for (const std::size_t index : expected["background"]) in_place.push_back(foreground + index);
    in_place.insert(in_place.begin() + mosaic.z, expected["foreground"].get<std::size_t>());
    CHECK(mosaic.images == in_place);
  }
}

}  // namespace

TEST_CASE("numpy draws are those of the reference", "[data]") {
  const auto golden = test::golden("numpy_draws.json");
  REQUIRE(golden.size() == 3);
  for (const auto& set : golden) check_reference(set);
}

TEST_CASE("numpy draws label by the image's place in the list of foreground classes", "[data]") {
  const Mosaics mosaics(numbered_images(100),
                        {.patches = 3, .count = 200, .foreground = {"e", "b"}, .draws = Draws::numpy});
  std::set<int> seen;
  for (std::size_t i = 0; i < 200; ++i) {
    const Mosaic mosaic = drawn(mosaics, i);
    const std::size_t image = mosaic.images[static_cast<std::size_t>(mosaic.z)];
    CHECK(image % 5 == (mosaic.label == 0 ? 4 : 1));
    seen.insert(mosaic.label);
  }
  CHECK(seen.size() == 2);
}

TEST_CASE("numpy draws nothing where there is no choice", "[data]") {
  const Images images({1}, std::vector<float>(2), {0, 1}, {"a", "b"});
  const Mosaics mosaics(images, {.patches = 2, .count = 100, .foreground = {"a"}, .draws = Draws::numpy});
  int at_first = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const Mosaic mosaic = drawn(mosaics, i);
    CHECK(mosaic.images[static_cast<std::size_t>(mosaic.z)] == 0);
    CHECK(mosaic.images[static_cast<std::size_t>(1 - mosaic.z)] == 1);
    at_first += mosaic.z == 0 ? 1 : 0;
  }
  // The first output of mt19937 seeded with 0 is 2357136044, even; with 1 it is 1791095845, odd.
  CHECK(drawn(mosaics, 0).z == 0);
  CHECK(drawn(mosaics, 1).z == 1);
  CHECK(at_first > 25);
  CHECK(at_first < 75);
}

TEST_CASE("a mosaic has one foreground patch of its label's class, the rest are background", "[data]") {
  for (const Draws draws : {Draws::keyed, Draws::numpy}) {
    const Mosaics mosaics(
        numbered_images(100),
        {.patches = 4, .count = 300, .foreground = {"b", "4"}, .background = {"a", "c"}, .draws = draws});
    for (std::size_t i = 0; i < 300; ++i) {
      const Mosaic mosaic = drawn(mosaics, i);
      REQUIRE(mosaic.images.size() == 4);
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t c = mosaic.images[j] % 5;
        if (static_cast<int>(j) == mosaic.z) {
          CHECK(c == (mosaic.label == 0 ? 1 : 4));
        } else {
          CHECK((c == 0 || c == 2));
        }
      }
    }
  }
}

TEST_CASE("the defaults are the first three classes against all others", "[data]") {
  const Mosaics mosaics(numbered_images(100), {});
  CHECK(mosaics.patches() == 5);
  CHECK(mosaics.count() == 10000);
  CHECK(mosaics.classes() == 3);
  CHECK(mosaics.class_names() == std::vector<std::string>{"a", "b", "c"});
  CHECK(mosaics.knows_positions());
  CHECK(mosaics.shape() == Shape{1});
  std::set<std::size_t> backgrounds;
  for (std::size_t i = 0; i < 500; ++i) {
    const Mosaic mosaic = drawn(mosaics, i);
    for (int j = 0; j < 5; ++j) {
      if (j != mosaic.z) backgrounds.insert(mosaic.images[static_cast<std::size_t>(j)] % 5);
    }
  }
  CHECK(backgrounds == std::set<std::size_t>{3, 4});
}

TEST_CASE("classes without images may stay in an unnamed background", "[data]") {
  const Images images({1}, std::vector<float>(3), {0, 1, 1}, {"a", "b", "missing"});
  const Mosaics mosaics(images, {.count = 10, .foreground = {"a"}});
  CHECK(drawn(mosaics, 9).images.size() == 5);
}

TEST_CASE("labels are numbered as the foreground is listed", "[data]") {
  const Mosaics mosaics(numbered_images(50), {.foreground = {"d", "0"}});
  CHECK(mosaics.class_names() == std::vector<std::string>{"d", "a"});
}

TEST_CASE("keyed draws are uniform over labels, positions and images", "[data]") {
  constexpr std::size_t count = 20000;
  const Mosaics mosaics(numbered_images(50), {.patches = 4, .count = count});
  std::vector<int> labels(3), positions(4), images(50);
  Mosaic mosaic;
  for (std::size_t i = 0; i < count; ++i) {
    mosaics.draw(i, mosaic);
    ++labels[static_cast<std::size_t>(mosaic.label)];
    ++positions[static_cast<std::size_t>(mosaic.z)];
    for (const std::size_t image : mosaic.images) ++images[image];
  }
  // Within five standard deviations of what is expected.
  const auto near = [&](int found, double draws, double probability) {
    return std::abs(found - draws * probability) < 5 * std::sqrt(draws * probability * (1 - probability));
  };
  for (const int found : labels) CHECK(near(found, count, 1.0 / 3));
  for (const int found : positions) CHECK(near(found, count, 1.0 / 4));
  for (std::size_t i = 0; i < 50; ++i) {
    CHECK((i % 5 < 3 ? near(images[i], count, 1.0 / 30) : near(images[i], 3 * count, 1.0 / 20)));
  }
}

TEST_CASE("an image of the label's class is uniform however large the other classes are", "[data]") {
  std::vector<int> labels(100, 0);
  labels[99] = 1;
  labels[98] = 2;
  const Mosaics mosaics(Images({1}, std::vector<float>(100), labels, {"large", "other", "tiny"}),
                        {.patches = 2, .count = 2000, .foreground = {"large", "tiny"}});
  int tiny = 0;
  for (std::size_t i = 0; i < 2000; ++i) tiny += drawn(mosaics, i).label;
  CHECK(tiny > 850);
  CHECK(tiny < 1150);
}

TEST_CASE("a mosaic is a function of seed, split and index, not of what was drawn before", "[data]") {
  for (const Draws draws : {Draws::keyed, Draws::numpy}) {
    const Mosaics mosaics(numbered_images(1000), {.count = 50, .draws = draws}),
        again(numbered_images(1000), {.count = 90, .draws = draws});
    std::vector<Mosaic> forwards;
    for (std::size_t i = 0; i < 50; ++i) forwards.push_back(drawn(mosaics, i));
    for (std::size_t i = 50; i-- > 0;) CHECK(same(drawn(again, i), forwards[i]));
    CHECK_FALSE(same(forwards[0], forwards[1]));
  }
}

TEST_CASE("keyed draws change with seed and split", "[data]") {
  const auto first_with = [](std::uint64_t seed, Split split) {
    return drawn(Mosaics(numbered_images(1000), {.seed = seed, .split = split}), 0);
  };
  const Mosaic mosaic = first_with(1, Split::train);
  CHECK(same(mosaic, first_with(1, Split::train)));
  CHECK_FALSE(same(mosaic, first_with(2, Split::train)));
  CHECK_FALSE(same(mosaic, first_with(1, Split::test)));
}

TEST_CASE("keyed draws are the same in every release and on every machine", "[data]") {
  const Mosaics mosaics(numbered_images(1000), {.patches = 3, .seed = 1});
  const Mosaic mosaic = drawn(mosaics, 7);
  CHECK(mosaic.images == std::vector<std::size_t>{527, 293, 584});
  CHECK(mosaic.label == 2);
  CHECK(mosaic.z == 0);
}

TEST_CASE("drawing reuses the memory of a mosaic", "[data]") {
  const Mosaics mosaics(numbered_images(50), {.patches = 7});
  Mosaic mosaic;
  mosaics.draw(0, mosaic);
  const auto* memory = mosaic.images.data();
  for (std::size_t i = 1; i < 100; ++i) mosaics.draw(i, mosaic);
  CHECK(mosaic.images.data() == memory);
}

TEST_CASE("a number of mosaics beyond memory can be drawn from", "[data]") {
  const Mosaics mosaics(numbered_images(50), {.count = std::size_t{1} << 62});
  CHECK(drawn(mosaics, (std::size_t{1} << 62) - 1).images.size() == 5);
}

TEST_CASE("patches are copied in their order", "[data]") {
  const Mosaics mosaics(numbered_images(50), {.patches = 3});
  const Mosaic mosaic = drawn(mosaics, 3);
  float floats[3];
  double doubles[3];
  mosaics.copy(mosaic, floats);
  mosaics.copy(mosaic, doubles);
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(floats[j] == static_cast<float>(mosaic.images[j]));
    CHECK(doubles[j] == static_cast<double>(mosaic.images[j]));
  }
}

TEST_CASE("patches of several bytes are copied as a model sees them", "[data]") {
  const Images images({1, 1, 2}, std::vector<std::uint8_t>{0, 255, 255, 0}, {0, 1}, {"a", "b"});
  const Mosaics mosaics(images, {.patches = 2, .count = 1, .foreground = {"a"}});
  float x[4];
  mosaics.copy({.images = {1, 0}}, x);
  CHECK(std::vector<float>(x, x + 4) == std::vector<float>{1, -1, -1, 1});
}

TEST_CASE("one patch needs no background", "[data]") {
  for (const Draws draws : {Draws::keyed, Draws::numpy}) {
    const Mosaics mosaics(numbered_images(50), {.patches = 1, .count = 9, .foreground = five_names, .draws = draws});
    const Mosaic mosaic = drawn(mosaics, 8);
    CHECK(mosaic.z == 0);
    CHECK(mosaic.label == static_cast<int>(mosaic.images[0] % 5));
  }
}

TEST_CASE("classes that do not exist or come twice are refused", "[data]") {
  check_refused({.foreground = {"0", "1", "12"}}, {"expected one of a, b, c, d, e", "found '12'"});
  check_refused({.background = {"x"}}, {"expected one of", "found 'x'"});
  check_refused({.foreground = {"a", "b", "0"}}, {"expected each class once", "found '0' again"});
  check_refused({.foreground = {"a"}, .background = {"b", "b"}}, {"expected each class once", "found 'b' again"});
  check_refused({.foreground = {"a", "b"}, .background = {"c", "b"}}, {"expected each class once", "found 'b' again"});
}

TEST_CASE("numbers of mosaics and patches out of range are refused", "[data]") {
  check_refused({.patches = 0}, {"expected 1 to 2147483647 patches", "found 0"});
  check_refused({.patches = std::numeric_limits<std::size_t>::max()}, {"patches", "found 18446744073709551615"});
  check_refused({.count = 0}, {"expected at least 1 mosaic", "found 0"});
  check_refused({.count = (std::size_t{1} << 32) + 1, .draws = Draws::numpy},
                {"at most 4294967296", "4294967297 mosaics"});
}

TEST_CASE("classes without images, and no background at all, are refused", "[data]") {
  const Images images({1}, std::vector<float>(2), {0, 1}, {"a", "b", "missing"});
  check_error<UsageError>([&] { Mosaics(images, {.foreground = {"missing"}}); },
                          {"expected images of class 'missing' in the training set", "found none"});
  check_error<UsageError>(
      [&] {
        Mosaics(images, {.foreground = {"a"}, .background = {"b", "missing"}});
      },
      {"'missing'"});
  check_refused({.foreground = five_names}, {"expected a background class", "found none"});
  check_error<UsageError>([&] { Mosaics(Images(), {}); }, {"expected at least 3 classes", "found 0"});
}

TEST_CASE("ready-made bags come as they are", "[data]") {
  const Mosaics bags = three_bags({1, 0, 1}, {0, 1, 1});
  CHECK(bags.count() == 3);
  CHECK(bags.patches() == 2);
  CHECK(bags.classes() == 2);
  CHECK(bags.class_names()[1] == "yes");
  CHECK(bags.knows_positions());
  const Mosaic bag = drawn(bags, 1);
  CHECK(bag.images == std::vector<std::size_t>{2, 3});
  CHECK(bag.label == 0);
  CHECK(bag.z == 1);
}

TEST_CASE("ready-made bags may have no positions", "[data]") {
  const Mosaics bags = three_bags({1, 0, 1}, {});
  CHECK_FALSE(bags.knows_positions());
  CHECK(drawn(bags, 0).z == -1);
}

TEST_CASE("ready-made bags whose counts do not fit are refused", "[data]") {
  check_error([] { three_bags({1, 0}, {}); }, {"bags", "expected 2 bags of 2 patches", "found 6 patches"});
  check_error([] { three_bags({1}, {}, 4); }, {"expected 1 bags of 4 patches", "found 6 patches"});
  check_error([] { three_bags({1, 0, 1}, {0, 1}); }, {"expected 3 positions z", "found 2"});
  check_error([] { three_bags({1, 0, 1}, {}, 0); }, {"patches a bag", "found 0"});
  check_error([] { three_bags({}, {}); }, {"expected at least one bag", "found no samples"});
}

TEST_CASE("labels and positions of ready-made bags out of range are refused", "[data]") {
  check_error([] { three_bags({1, 2, 1}, {}); }, {"expected labels from 0 to below 2", "found 2 at index 1"});
  check_error([] { three_bags({1, 1, -1}, {}); }, {"found -1 at index 2"});
  check_error(
      [] {
        three_bags({1, 0, 1}, {0, 1, 2});
      },
      {"expected positions z from 0 to below 2", "found 2 at index 2"});
  check_error([] { three_bags({1, 0, 1}, {-1, 1, 0}); }, {"found -1 at index 0"});
}
