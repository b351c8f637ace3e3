// Golden values come from an independent implementation in Python: xoshiro256++ after the reference code of its
// authors, which was checked against their test vector, keyed as random.cpp says.
#include "fcam/base/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

using namespace fcam;

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

template <std::size_t Count>
std::array<std::uint64_t, Count> first_bits(Random random) {
  std::array<std::uint64_t, Count> bits;
  for (auto& word : bits) word = random.bits();
  return bits;
}

std::vector<std::uint64_t> all_of(std::uint64_t size, std::uint64_t seed, std::uint64_t index = 0) {
  const Permutation permutation(size, seed, "order", index);
  std::vector<std::uint64_t> images(size);
  for (std::uint64_t i = 0; i < size; ++i) images[i] = permutation(i);
  return images;
}

// Sum of (count - expected)^2 / expected over equally likely cells.
double chi_square(const std::vector<int>& counts) {
  const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("the bits are those of xoshiro256++", "[base]") {
  using Words = std::array<std::uint64_t, 4>;
  CHECK(first_bits<4>(Random(1, "data")) ==
        Words{0x1b518a53cd72c422, 0x77dc8ec4994b5602, 0x04bc0ee28eb2f57f, 0x438bb5f9e318a668});
  CHECK(first_bits<4>(Random(1, "data", 1)) ==
        Words{0x73757a8942cd0a89, 0x98cf43771aee60b7, 0x6cc5c9afa94f0cae, 0xc5270b6f1c24b348});
  CHECK(first_bits<4>(Random(largest, "weights", 12345678901234)) ==
        Words{0x73ddba56b4698b5b, 0xd7ee990bbc3ac4c1, 0x6bc8c0cba1984f8d, 0x842d62145e9176a4});
}

TEST_CASE("numbers below a bound are the golden ones", "[base]") {
  Random random(7, "order");
  for (const std::uint64_t expected : {5, 1, 1, 3, 8, 3, 9, 3, 5, 2, 7, 1}) CHECK(random.below(10) == expected);
  Random large(7, "order");
  for (const std::uint64_t expected :
       {11718141075705985855u, 1838813081357481289u, 653960843388817799u, 2386480594940215381u}) {
    CHECK(large.below(std::uint64_t{3} << 62) == expected);
  }
}

TEST_CASE("uniform numbers are the golden ones, to the last bit", "[base]") {
  Random random(1, "data");
  for (const double expected : {0.10671295686683901, 0.4682091932275345, 0.018494539558286283, 0.2638505683017649}) {
    CHECK(random.uniform() == expected);
  }
}

TEST_CASE("normal numbers are the golden ones", "[base]") {
  Random random(3, "normal");
  for (const double expected : {-2.5630429322973565, -0.12404190451201473, -2.11384354664822, 0.4765806136659228,
                                0.20095407835205292, -0.12110288927586954}) {
    CHECK(random.normal() == Approx(expected).epsilon(1e-15));
  }
}

TEST_CASE("seed, stream and index each give another sequence", "[base]") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const char* stream : {"a", "b", "ab", "abc", "ba", "data", "weights"}) {
      for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, largest}) {
        for (const std::uint64_t word : first_bits<3>(Random(seed, stream, index))) seen.insert(word);
      }
    }
  }
  CHECK(seen.size() == 10 * 7 * 4 * 3);
}

TEST_CASE("first words of neighbouring indices share no pattern", "[base]") {
  std::vector<int> flips(64);
  constexpr int pairs = 4000;
  for (std::uint64_t index = 0; index < pairs; ++index) {
    const std::uint64_t change = Random(1, "data", index).bits() ^ Random(1, "data", index + 1).bits();
    for (std::size_t bit = 0; bit < 64; ++bit) flips[bit] += static_cast<int>(change >> bit & 1);
  }
  // 5 standard deviations of a fair coin
  for (const int count : flips) CHECK(std::abs(count - pairs / 2) < 5 * std::sqrt(pairs) / 2);
}

TEST_CASE("below stays below, and 1 leaves no choice", "[base]") {
  Random random(1, "below");
  for (int i = 0; i < 1000; ++i) {
    CHECK(random.below(1) == 0);
    CHECK(random.below(3) < 3);
    CHECK(random.below(largest) < largest);
  }
}

TEST_CASE("numbers below a bound are equally likely", "[base]") {
  Random random(1, "below");
  for (const std::uint64_t bound : {2, 3, 7, 10, 20}) {
    std::vector<int> counts(bound);
    for (int i = 0; i < 50000; ++i) ++counts[random.below(bound)];
    const auto freedom = static_cast<double>(bound - 1);
    CAPTURE(bound);
    CHECK(chi_square(counts) < freedom + 5 * std::sqrt(2 * freedom));
  }
}

TEST_CASE("a bound of three quarters of the range shows no bias of a plain remainder", "[base]") {
  Random random(1, "bias");
  constexpr int draws = 30000;
  int low = 0;  // a plain remainder would put half of all below the first third
  for (int i = 0; i < draws; ++i) low += random.below(std::uint64_t{3} << 62) < std::uint64_t{1} << 62;
  CHECK(low == Approx(draws / 3.0).margin(5 * std::sqrt(draws * 2.0 / 9)));
}

TEST_CASE("uniform numbers fill [0, 1) evenly", "[base]") {
  Random random(1, "uniform");
  std::vector<int> counts(100);
  constexpr int draws = 200000;
  double sum = 0, products = 0, previous = 0.5;
  for (int i = 0; i < draws; ++i) {
    const double value = random.uniform();
    REQUIRE((value >= 0 && value < 1));
    ++counts[static_cast<std::size_t>(100 * value)];
    sum += value;
    products += (value - 0.5) * (previous - 0.5);
    previous = value;
  }
  CHECK(chi_square(counts) < 99 + 5 * std::sqrt(2 * 99));
  CHECK(sum / draws == Approx(0.5).margin(5 / std::sqrt(12.0 * draws)));
  CHECK(products / draws == Approx(0).margin(5 / (12 * std::sqrt(draws))));
}

TEST_CASE("normal numbers have the moments of the normal distribution", "[base]") {
  Random random(1, "normal");
  constexpr int draws = 400000;
  std::array<double, 7> moments{};
  for (int i = 0; i < draws; ++i) {
    const double value = random.normal();
    for (std::size_t p = 1; p < moments.size(); ++p) moments[p] += std::pow(value, static_cast<double>(p)) / draws;
  }
  // Var(x^p) = E x^2p - (E x^p)^2: 1, 2, 15, 96, 945, 10170
  const double sigma = 1 / std::sqrt(draws);
  CHECK(moments[1] == Approx(0).margin(5 * sigma));
  CHECK(moments[2] == Approx(1).margin(5 * sigma * std::sqrt(2)));
  CHECK(moments[3] == Approx(0).margin(5 * sigma * std::sqrt(15)));
  CHECK(moments[4] == Approx(3).margin(5 * sigma * std::sqrt(96)));
  CHECK(moments[5] == Approx(0).margin(5 * sigma * std::sqrt(945)));
  CHECK(moments[6] == Approx(15).margin(5 * sigma * std::sqrt(10170)));
}

TEST_CASE("normal numbers have the tails of the normal distribution", "[base]") {
  Random random(2, "normal");
  constexpr int draws = 400000;
  for (const double limit : {1.0, 2.0, 3.0, 4.0}) {
    int above = 0, below = 0;
    for (int i = 0; i < draws; ++i) {
      const double value = random.normal();
      above += value > limit;
      below += value < -limit;
    }
    const double expected = draws * std::erfc(limit / std::sqrt(2)) / 2;
    CAPTURE(limit);
    CHECK(above == Approx(expected).margin(5 * std::sqrt(expected)));
    CHECK(below == Approx(expected).margin(5 * std::sqrt(expected)));
  }
}

TEST_CASE("categorical numbers have the probabilities of softmax", "[base]") {
  const std::vector<double> log_weights{0.5, -1, 700, 701.5, -800};  // the others are out of reach
  const std::vector<double> few{1, 0, -1, 2};
  Random random(3, "test categorical");
  std::vector<double> counts(5), few_counts(4);
  for (int i = 0; i < 40000; ++i) {
    ++counts[random.categorical(log_weights)];
    ++few_counts[random.categorical(few)];
  }
  const auto near = [](double count, double p) {
    return std::abs(count - 40000 * p) < 5 * std::sqrt(40000 * p * (1 - p));
  };
  CHECK(counts[0] + counts[1] + counts[4] == 0);
  CHECK(near(counts[3], 1 / (1 + std::exp(-1.5))));
  double total = 0;
  for (const double weight : few) total += std::exp(weight);
  for (std::size_t i = 0; i < 4; ++i) CHECK(near(few_counts[i], std::exp(few[i]) / total));
  CHECK(random.categorical(std::vector<double>{-3.0}) == 0);
}

TEST_CASE("the two normal numbers of a pair are independent", "[base]") {
  Random random(3, "normal");
  constexpr int pairs = 200000;
  double product = 0, product_of_squares = 0;
  for (int i = 0; i < pairs; ++i) {
    const double u = random.normal(), v = random.normal();
    product += u * v / pairs;
    product_of_squares += (u * u - 1) * (v * v - 1) / pairs;
  }
  CHECK(product == Approx(0).margin(5 / std::sqrt(pairs)));
  CHECK(product_of_squares == Approx(0).margin(5 * 2 / std::sqrt(pairs)));
}

TEST_CASE("permutations are the golden ones", "[base]") {
  CHECK(all_of(10, 1) == std::vector<std::uint64_t>{6, 3, 2, 5, 9, 8, 4, 1, 0, 7});
  CHECK(all_of(10, 1, 1) == std::vector<std::uint64_t>{2, 4, 1, 8, 3, 5, 0, 9, 6, 7});
  const Permutation large(1000000000000000, 1, "order");
  CHECK(large(0) == 840826714627579);
  CHECK(large(1) == 240234642787322);
  CHECK(large(999999999999999) == 795198945197302);
}

TEST_CASE("every size from 1 to 300 is permuted", "[base]") {
  for (std::uint64_t size = 1; size <= 300; ++size) {
    std::vector<std::uint64_t> images = all_of(size, size);
    std::sort(images.begin(), images.end());
    std::vector<std::uint64_t> identity(size);
    std::iota(identity.begin(), identity.end(), std::uint64_t{0});
    CAPTURE(size);
    CHECK(images == identity);
  }
}

TEST_CASE("sizes up to the largest give different images inside", "[base]") {
  for (const std::uint64_t size :
       {std::uint64_t{60000}, std::uint64_t{1} << 32, (std::uint64_t{1} << 33) + 1, largest}) {
    const Permutation permutation(size, 5, "order");
    std::set<std::uint64_t> images;
    const std::uint64_t step = size / 5000;
    std::uint64_t sampled = 0, outside = 0;
    for (std::uint64_t i = 0; i < 5000; ++i, ++sampled) {
      const std::uint64_t image = permutation(i * step);
      outside += image >= size;
      images.insert(image);
    }
    CAPTURE(size);
    CHECK(outside == 0);
    CHECK(images.size() == sampled);
  }
}

TEST_CASE("a position goes to each place equally often over many permutations", "[base]") {
  for (const std::uint64_t size : {5, 8, 100}) {
    for (const std::uint64_t position : {std::uint64_t{0}, size - 1}) {
      std::vector<int> counts(size);
      for (std::uint64_t epoch = 0; epoch < 400 * size; ++epoch) {
        ++counts[Permutation(size, 1, "order", epoch)(position)];
      }
      const auto freedom = static_cast<double>(size - 1);
      CAPTURE(size, position);
      CHECK(chi_square(counts) < freedom + 5 * std::sqrt(2 * freedom));
    }
  }
}

TEST_CASE("an epoch leaves as many mosaics where they were as chance would", "[base]") {
  double fixed_points = 0;
  constexpr int epochs = 2000;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto images = all_of(100, 1, epoch);
    for (std::uint64_t i = 0; i < images.size(); ++i) fixed_points += images[i] == i;
  }
  CHECK(fixed_points / epochs == Approx(1).margin(5 / std::sqrt(epochs)));  // mean 1, variance 1
}

TEST_CASE("neighbours do not stay neighbours", "[base]") {
  const auto images = all_of(10000, 1);
  int neighbours = 0;
  for (std::size_t i = 1; i < images.size(); ++i) neighbours += images[i] == images[i - 1] + 1;
  CHECK(neighbours < 8);  // about 1 by chance
}
