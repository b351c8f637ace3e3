#include "fcam/base/blas.h"

#include <atomic>
#include <cassert>
#include <mutex>

#include <xtensor-blas/xblas.hpp>

// Of OpenBLAS beyond the standard BLAS; declared here because the header of another BLAS may be installed.
extern "C" {
void openblas_set_num_threads(int threads);
int openblas_get_num_threads();
int openblas_get_parallel();
char* openblas_get_config();
char* openblas_get_corename();
}

namespace fcam {
namespace {

std::mutex single_thread_mutex;
std::atomic<int> single_thread_users = 0;
int callers_threads = 0;

// The build of OpenBLAS without threads shares its buffers among all that call it: then one may call at a time.
std::unique_lock<std::mutex> wait_for_turn() {
  static std::mutex turn;
  static const bool serial = openblas_get_parallel() == 0;
  return serial ? std::unique_lock(turn) : std::unique_lock<std::mutex>();
}

// In the OpenMP build of OpenBLAS every thread has a number of its own, which the one that SingleThreadedBlas sets does
// not reach: a thread that comes here while one lives says it for itself, once.
void use_one_thread_here() {
  constexpr int openmp = 2;
  static const bool each_for_itself = openblas_get_parallel() == openmp;
  thread_local bool done = false;
  if (!each_for_itself || done || single_thread_users.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(single_thread_mutex);
  if (single_thread_users > 0) openblas_set_num_threads(1);
  done = true;
}

}  // namespace

template <class T>
void gemm(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Accumulate accumulate) {
  const std::size_t inner = a.transposed ? a.rows : a.columns;
  assert(!c.transposed);
  assert((a.transposed ? a.columns : a.rows) == c.rows);
  assert((b.transposed ? b.rows : b.columns) == c.columns);
  assert((b.transposed ? b.columns : b.rows) == inner);
  const auto flag = [](bool transposed) { return transposed ? cxxblas::Trans : cxxblas::NoTrans; };
  use_one_thread_here();
  const auto turn = wait_for_turn();
  cxxblas::gemm<int>(cxxblas::RowMajor, flag(a.transposed), flag(b.transposed), static_cast<int>(c.rows),
                     static_cast<int>(c.columns), static_cast<int>(inner), T(1), a.data, static_cast<int>(a.stride),
                     b.data, static_cast<int>(b.stride), accumulate == Accumulate::yes ? T(1) : T(0), c.data,
                     static_cast<int>(c.stride));
}

template void gemm(MatrixView<const float>, MatrixView<const float>, MatrixView<float>, Accumulate);
template void gemm(MatrixView<const double>, MatrixView<const double>, MatrixView<double>, Accumulate);

SingleThreadedBlas::SingleThreadedBlas() {
  const std::lock_guard lock(single_thread_mutex);
  if (single_thread_users++ == 0) {
    callers_threads = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
}

SingleThreadedBlas::~SingleThreadedBlas() {
  const std::lock_guard lock(single_thread_mutex);
  if (--single_thread_users == 0) openblas_set_num_threads(callers_threads);
}

std::string blas_description() {
  std::string text = openblas_get_config();
  const std::string core = openblas_get_corename();
  if (text.find(core) == std::string::npos) text += " " + core;
  return text;
}

}  // namespace fcam
