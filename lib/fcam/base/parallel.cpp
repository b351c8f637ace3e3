#include "fcam/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "fcam/base/error.h"

namespace fcam {
namespace {

unsigned long float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}

void set_float_mode([[maybe_unused]] unsigned long mode) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

// Tells the processor that this thread only waits.
void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#if defined(__aarch64__)
constexpr unsigned long flush_bits = 1ul << 24;  // FZ
#else
constexpr unsigned long flush_bits = 0x8040;  // FTZ and DAZ
#endif

}  // namespace

int available_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

FlushDenormals::FlushDenormals() : saved_(float_mode()) { set_float_mode(saved_ | flush_bits); }

FlushDenormals::~FlushDenormals() {
  // Only the flush bits go back: exception flags raised meanwhile stay raised, as after any computation.
  set_float_mode((float_mode() & ~flush_bits) | (saved_ & flush_bits));
}

// Tasks first to last of a round that no thread has taken yet, on a cache line of its own.
struct alignas(64) Share {
  std::atomic<std::size_t> first{0};
  std::size_t last = 0;
};

struct Workers::State {
  std::vector<std::thread> threads;
  const pid_t owner = getpid();

  // What the caller writes before it raises `round`, and what the threads read after they see it raised.
  RawJob job = nullptr;
  void* context = nullptr;
  std::vector<Share> shares;  // one a thread; what a task works on is in the caches of the thread that had it last

  std::atomic<std::uint64_t> round{0};  // one call of run
  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> busy{0};  // threads that have not yet finished the round

  // Whoever sleeps is woken under the mutex, which also guards `error`.
  std::mutex mutex;
  std::condition_variable work_ready, work_done;
  std::exception_ptr error;

  // Steps of small networks are a row of short jobs, and to sleep and be woken takes longer than most of them: look for
  // a while first.
  template <class Ready>
  void await(std::condition_variable& condition, Ready ready) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    do {
      for (int look = 0; look < 64; ++look) {
        if (ready()) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < patience);
    std::unique_lock lock(mutex);
    condition.wait(lock, ready);
  }

  // Those of its own share, then what the others have not come to.
  void take_tasks(int worker) {
    for (std::size_t turn = 0; turn < shares.size(); ++turn) {
      Share& share = shares[(static_cast<std::size_t>(worker) + turn) % shares.size()];
      for (std::size_t task; (task = share.first.fetch_add(1, std::memory_order_relaxed)) < share.last;) {
        try {
          job(context, task, worker);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
          for (Share& rest : shares) rest.first.store(rest.last, std::memory_order_relaxed);
        }
      }
    }
  }

  // Lets a change of the atomics be seen by those who sleep: none can be between its look and its sleep.
  void wake(std::condition_variable& condition) {
    { const std::lock_guard lock(mutex); }
    condition.notify_all();
  }

  void stop() {
    stopping = true;
    wake(work_ready);
    for (auto& thread : threads) thread.join();
  }

  void live(int worker) {
    const FlushDenormals flush;
    for (std::uint64_t seen = 0;; ++seen) {
      await(work_ready, [&] { return stopping || round != seen; });
      if (stopping) return;
      take_tasks(worker);
      if (--busy == 0) wake(work_done);
    }
  }
};

Workers::Workers(int threads) : state_(std::make_unique<State>()) {
  assert(threads >= 1);
  State* state = state_.get();
  state->shares = std::vector<Share>(static_cast<std::size_t>(threads));
  try {
    for (int worker = 1; worker < threads; ++worker)
      state->threads.emplace_back([state, worker] { state->live(worker); });
  } catch (const std::system_error& error) {
    const int started = count();
    state->stop();
    throw UsageError("expected to start " + std::to_string(threads) + " threads, found that the system gives " +
                     std::to_string(started) + ": " + error.code().message());
  }
}

Workers::~Workers() {
  if (getpid() != state_->owner) {  // a forked child: the threads exist only in the parent
    for (auto& thread : state_->threads) thread.detach();
    static_cast<void>(state_.release());  // its mutex may have been held by one of them: not safe to destroy
    return;
  }
  state_->stop();
}

int Workers::count() const { return static_cast<int>(state_->threads.size()) + 1; }

void Workers::run_raw(std::size_t tasks, RawJob job, void* context, bool shared) {
  const FlushDenormals flush;
  State& s = *state_;
  if (!shared || tasks <= 1 || s.threads.empty() || getpid() != s.owner) {
    for (std::size_t task = 0; task < tasks; ++task) job(context, task, 0);
    return;
  }
  s.job = job;
  s.context = context;
  for (std::size_t i = 0, count = s.shares.size(); i < count; ++i) {
    s.shares[i].first.store(tasks * i / count, std::memory_order_relaxed);
    s.shares[i].last = tasks * (i + 1) / count;
  }
  s.busy = s.threads.size();
  ++s.round;
  s.wake(s.work_ready);
  s.take_tasks(0);
  s.await(s.work_done, [&] { return s.busy == 0; });
  // All threads are done: the mutex is not needed to read what they left.
  if (s.error) std::rethrow_exception(std::exchange(s.error, nullptr));
}

}  // namespace fcam
