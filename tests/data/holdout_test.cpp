#include "fcam/data/holdout.h"

#include <algorithm>

#include "data_files.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const std::vector<std::string> names{"a", "b", "c"};

// Labels 0, 1, 2 with these counts, one after the other.
std::vector<int> labels_of(std::vector<std::size_t> counts) {
  std::vector<int> labels;
  for (std::size_t c = 0; c < counts.size(); ++c) labels.insert(labels.end(), counts[c], static_cast<int>(c));
  return labels;
}

std::vector<std::size_t> part(const std::vector<int>& labels, double fraction, Split split) {
  return part_of_one_set(labels, names, fraction, split, "some folder");
}

std::vector<std::ptrdiff_t> test_counts(const std::vector<int>& labels, double fraction) {
  std::vector<std::ptrdiff_t> counts(3);
  for (const std::size_t i : part(labels, fraction, Split::test)) ++counts[static_cast<std::size_t>(labels[i])];
  return counts;
}

}  // namespace

TEST_CASE("the two parts of one set share no item and miss none", "[data]") {
  const std::vector<int> labels = labels_of({50, 7, 2});
  std::vector<std::size_t> all = part(labels, 0.2, Split::train);
  const std::vector<std::size_t> test = part(labels, 0.2, Split::test);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(std::is_sorted(test.begin(), test.end()));
  all.insert(all.end(), test.begin(), test.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == labels.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i);
}

TEST_CASE("each class gives its fraction to the test, rounded, at least one item and not all", "[data]") {
  CHECK(test_counts(labels_of({50, 7, 2}), 0.2) == std::vector<std::ptrdiff_t>{10, 1, 1});
  CHECK(test_counts(labels_of({50, 8, 2}), 0.2) == std::vector<std::ptrdiff_t>{10, 2, 1});
  CHECK(test_counts(labels_of({50, 7, 2}), 0.99) == std::vector<std::ptrdiff_t>{49, 6, 1});
  CHECK(test_counts(labels_of({50, 7, 2}), 0.001) == std::vector<std::ptrdiff_t>{1, 1, 1});
}

TEST_CASE("the held-out items are spread over a class, and the same at every call", "[data]") {
  const std::vector<int> labels = labels_of({1000, 1000});
  const std::vector<std::size_t> test = part(labels, 0.2, Split::test);
  CHECK(part(labels, 0.2, Split::test) == test);
  const auto in_first_half = std::count_if(test.begin(), test.end(), [](std::size_t i) { return i % 1000 < 500; });
  CHECK(in_first_half > 150);
  CHECK(in_first_half < 250);
}

TEST_CASE("the choice of held-out items is the same in every release and on every machine", "[data]") {
  CHECK(part(labels_of({6, 5}), 0.4, Split::test) == std::vector<std::size_t>{0, 2, 6, 7});
}

TEST_CASE("a class of one item, and a fraction out of range, are refused", "[data]") {
  check_error(
      [] {
        part(labels_of({3, 1}), 0.2, Split::train);
      },
      {"'some folder'", "expected at least 2 items of class 'b'", "found 1"});
  CHECK(part(labels_of({3, 0, 3}), 0.2, Split::test).size() == 2);
  for (const double fraction : {0.0, 1.0, -0.2, 2.0}) {
    check_error<UsageError>([&] { part(labels_of({3}), fraction, Split::train); }, {"holdout"});
  }
}
