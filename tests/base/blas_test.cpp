#include "fcam/base/blas.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "fcam/base/random.h"

extern "C" {
void openblas_set_num_threads(int threads);
int openblas_get_num_threads();
}

using namespace fcam;

namespace {

// A matrix inside a larger memory, whose remaining numbers must stay what they are.
template <class T>
struct Padded {
  Padded(std::size_t rows, std::size_t columns, std::size_t padding, Random& random)
      : numbers(rows * (columns + padding)), view{numbers.data(), rows, columns, columns + padding} {
    for (T& number : numbers) number = static_cast<T>(random.normal());
  }
  T at(std::size_t i, std::size_t j) const { return numbers[i * view.stride + j]; }
  MatrixView<const T> read(bool transpose) const {
    return {view.data, view.rows, view.columns, view.stride, transpose};
  }

  std::vector<T> numbers;
  MatrixView<T> view;
};

struct Case {
  std::size_t m, n, k, padding;
  bool transpose_a, transpose_b;
  Accumulate accumulate;
};

template <class T>
void check_gemm(const Case& c) {
  CAPTURE(c.m, c.n, c.k, c.padding, c.transpose_a, c.transpose_b, c.accumulate == Accumulate::yes);
  Random random(1, "blas");
  const Padded<T> a(c.transpose_a ? c.k : c.m, c.transpose_a ? c.m : c.k, c.padding, random);
  const Padded<T> b(c.transpose_b ? c.n : c.k, c.transpose_b ? c.k : c.n, 2 * c.padding, random);
  Padded<T> result(c.m, c.n, 3 * c.padding, random);
  std::vector<double> expected(result.numbers.begin(), result.numbers.end());
  for (std::size_t i = 0; i < c.m; ++i) {
    for (std::size_t j = 0; j < c.n; ++j) {
      double sum = c.accumulate == Accumulate::yes ? static_cast<double>(result.at(i, j)) : 0;
      for (std::size_t l = 0; l < c.k; ++l) {
        sum += static_cast<double>(c.transpose_a ? a.at(l, i) : a.at(i, l)) *
               static_cast<double>(c.transpose_b ? b.at(j, l) : b.at(l, j));
      }
      expected[i * result.view.stride + j] = sum;
    }
  }
  gemm(a.read(c.transpose_a), b.read(c.transpose_b), result.view, c.accumulate);
  double largest_error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest_error = std::max(largest_error, std::abs(static_cast<double>(result.numbers[i]) - expected[i]));
  }
  CHECK(largest_error <= 16 * static_cast<double>(c.k + 1) * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

template <class T>
void check_all_shapes(bool transpose_a, bool transpose_b) {
  for (const auto accumulate : {Accumulate::no, Accumulate::yes}) {
    check_gemm<T>({3, 4, 5, 0, transpose_a, transpose_b, accumulate});
    check_gemm<T>({17, 31, 65, 3, transpose_a, transpose_b, accumulate});
    check_gemm<T>({1, 9, 70, 1, transpose_a, transpose_b, accumulate});
    check_gemm<T>({70, 1, 1, 2, transpose_a, transpose_b, accumulate});
    check_gemm<T>({1, 1, 1, 0, transpose_a, transpose_b, accumulate});
  }
}

// Sets the number of BLAS threads, and what it was again at its end.
struct BlasThreads {
  explicit BlasThreads(int threads) { openblas_set_num_threads(threads); }
  ~BlasThreads() { openblas_set_num_threads(before); }
  int before = openblas_get_num_threads();
};

}  // namespace

TEMPLATE_TEST_CASE("gemm of two plain matrices", "[base]", float, double) { check_all_shapes<TestType>(false, false); }

TEMPLATE_TEST_CASE("gemm with the first matrix transposed", "[base]", float, double) {
  check_all_shapes<TestType>(true, false);
}

TEMPLATE_TEST_CASE("gemm with the second matrix transposed", "[base]", float, double) {
  check_all_shapes<TestType>(false, true);
}

TEMPLATE_TEST_CASE("gemm with both matrices transposed", "[base]", float, double) {
  check_all_shapes<TestType>(true, true);
}

TEMPLATE_TEST_CASE("gemm without accumulation overwrites whatever was there", "[base]", float, double) {
  const std::vector<TestType> a = {1, 2}, b = {3, 4};
  std::vector<TestType> c(4, std::numeric_limits<TestType>::quiet_NaN());
  gemm(matrix(a.data(), 2, 1), matrix(b.data(), 1, 2), matrix(c.data(), 2, 2));
  CHECK(c == std::vector<TestType>{3, 4, 6, 8});
}

TEMPLATE_TEST_CASE("gemm over no inner elements is a sum of nothing", "[base]", float, double) {
  const TestType* nothing = nullptr;
  std::vector<TestType> c = {1, 2, 3, 4};
  gemm(matrix(nothing, 2, 0), matrix(nothing, 0, 2), matrix(c.data(), 2, 2), Accumulate::yes);
  CHECK(c == std::vector<TestType>{1, 2, 3, 4});
  gemm(matrix(nothing, 2, 0), matrix(nothing, 0, 2), matrix(c.data(), 2, 2));
  CHECK(c == std::vector<TestType>(4, 0));
}

TEST_CASE("transposing a view twice gives the view", "[base]") {
  const float data[6] = {};
  const auto view = matrix(data, 2, 3);
  CHECK_FALSE(view.transposed);
  CHECK(view.stride == 3);
  CHECK(transposed(view).transposed);
  CHECK(transposed(view).rows == 2);
  CHECK_FALSE(transposed(transposed(view)).transposed);
}

TEST_CASE("one BLAS thread inside, the caller's number after", "[base]") {
  const BlasThreads threads(2);
  REQUIRE(openblas_get_num_threads() == 2);
  {
    const SingleThreadedBlas outer;
    CHECK(openblas_get_num_threads() == 1);
    {
      const SingleThreadedBlas inner;
      CHECK(openblas_get_num_threads() == 1);
    }
    CHECK(openblas_get_num_threads() == 1);
  }
  CHECK(openblas_get_num_threads() == 2);
}

TEST_CASE("the caller's BLAS threads come back after users on several threads", "[base]") {
  const BlasThreads threads(2);
  const auto use = [] {
    for (int i = 0; i < 200; ++i) const SingleThreadedBlas single;
  };
  std::thread other(use);
  use();
  other.join();
  CHECK(openblas_get_num_threads() == 2);
}

TEST_CASE("the BLAS says what it is", "[base]") { CHECK_THAT(blas_description(), Catch::Contains("OpenBLAS")); }
