// Matrix products through OpenBLAS. blas.cpp is the only file that includes xtensor-blas.
#pragma once

#include <cstddef>
#include <string>

namespace fcam {

/// A row-major matrix in somebody else's memory: `rows` x `columns` with `stride` elements from one row to the next.
template <class T>
struct MatrixView {
  T* data;
  std::size_t rows, columns, stride;
  bool transposed = false;  ///< when set, stands for the transpose of the matrix in memory
};

/// A view of contiguous memory.
template <class T>
MatrixView<T> matrix(T* data, std::size_t rows, std::size_t columns) {
  return {data, rows, columns, columns};
}

/// The transpose of `m`.
template <class T>
MatrixView<T> transposed(MatrixView<T> m) {
  m.transposed = !m.transposed;
  return m;
}

enum class Accumulate { no, yes };

/// c = a b, or c += a b. Requires shapes that fit, an untransposed c and sizes within the range of int.
/// Instantiated for float and double.
template <class T>
void gemm(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Accumulate accumulate = Accumulate::no);

/// While at least one of these lives, BLAS calls use one thread each: the library runs its own threads around them.
/// The caller's setting comes back when the last one dies. Safe to use from several threads.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// Name, version and kernel of the BLAS in use, as it describes itself.
std::string blas_description();

}  // namespace fcam
