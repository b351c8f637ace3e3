// A pool of threads that runs numbered tasks. Who owns the pool decides how many; results never depend on it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace fcam {

/// Cores that this process may run on, at least 1.
int available_threads();

/// Flushes denormal numbers to zero in this thread while it lives, then restores the floating-point mode it found.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned long saved_;
};

/// A fixed set of threads, of which the caller's is one. Not copyable; use from one thread at a time. In a process
/// forked while a pool existed, its tasks run on the calling thread alone.
class Workers {
 public:
  /// Starts `threads` - 1 threads. Requires threads >= 1. Throws UsageError if the system does not give that many.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const;

  /// Calls job(task, worker) once for each task in [0, tasks), worker in [0, count()), denormals flushed, in any order.
  /// Returns when all are done; rethrows the first exception of a job. Allocates nothing. Where there is not enough
  /// work for several threads, `shared` false has worker 0, the calling thread, do all of it.
  template <class Job>
  void run(std::size_t tasks, Job&& job, bool shared = true) {
    using Plain = std::remove_reference_t<Job>;
    run_raw(
        tasks, [](void* context, std::size_t task, int worker) { (*static_cast<Plain*>(context))(task, worker); },
        const_cast<void*>(static_cast<const void*>(&job)), shared);
  }

 private:
  using RawJob = void (*)(void* context, std::size_t task, int worker);
  void run_raw(std::size_t tasks, RawJob job, void* context, bool shared);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fcam
