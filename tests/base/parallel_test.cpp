#include "fcam/base/parallel.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <csignal>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "fcam/base/error.h"

using namespace fcam;

namespace {

// A denormal number computed at run time is zero where denormals are flushed.
bool flushes_denormals() {
  volatile double smallest = std::numeric_limits<double>::min();
  volatile double half = smallest / 2;
  return half == 0;
}

// Exit code of `job` run in a forked child, -1 where it is not done after 10 seconds.
template <class Job>
int exit_code_of_child(Job job) {
  const pid_t child = fork();
  if (child == 0) _exit(job());
  for (int tick = 0; tick < 1000; ++tick) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

// Sum of 1 to 100, each by a task of its own.
int sum_to_100(Workers& workers) {
  std::atomic<int> sum{0};
  workers.run(100, [&](std::size_t task, int) { sum += static_cast<int>(task) + 1; });
  return sum;
}

}  // namespace

TEST_CASE("each task runs exactly once, whatever the number of threads", "[base]") {
  for (int threads = 1; threads <= 4; ++threads) {
    Workers workers(threads);
    REQUIRE(workers.count() == threads);
    for (const std::size_t tasks : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> runs(tasks);
      std::atomic<int> bad_workers{0};
      workers.run(tasks, [&](std::size_t task, int worker) {
        ++runs[task];
        if (worker < 0 || worker >= threads) ++bad_workers;
      });
      CAPTURE(threads, tasks);
      CHECK(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
      CHECK(bad_workers == 0);
    }
  }
}

TEST_CASE("no two tasks have the same worker at the same time", "[base]") {
  Workers workers(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> clashes{0};
  workers.run(2000, [&](std::size_t, int worker) {
    auto& here = inside[static_cast<std::size_t>(worker)];
    if (++here != 1) ++clashes;
    --here;
  });
  CHECK(clashes == 0);
}

TEST_CASE("tasks really run on several threads", "[base]") {
  Workers workers(2);
  std::atomic<int> arrived{0};
  workers.run(2, [&](std::size_t, int) {  // neither ends before both have begun
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  CHECK(arrived == 2);
}

TEST_CASE("a pool is used many times", "[base]") {
  Workers workers(3);
  int wrong = 0;
  for (int round = 0; round < 3000; ++round) wrong += sum_to_100(workers) != 5050;
  CHECK(wrong == 0);
}

TEST_CASE("threads that sleep are woken, for work and for its end", "[base]") {
  Workers workers(3);
  for (int round = 0; round < 20; ++round) {
    usleep(500);  // longer than a thread looks for work before it sleeps
    CHECK(sum_to_100(workers) == 5050);
    std::atomic<int> done{0};
    workers.run(3, [&](std::size_t task, int) {
      usleep(task == 0 ? 1 : 500);
      ++done;
    });
    CHECK(done == 3);
  }
}

TEST_CASE("what the tasks wrote is seen after run", "[base]") {
  Workers workers(2);
  std::vector<int> results(500);
  for (int round = 1; round <= 50; ++round) {
    workers.run(results.size(), [&](std::size_t task, int) { results[task] = round; });
    CHECK(std::count(results.begin(), results.end(), round) == 500);
  }
}

TEST_CASE("an exception of a task reaches the caller and the pool goes on", "[base]") {
  for (int threads = 1; threads <= 4; ++threads) {
    Workers workers(threads);
    CAPTURE(threads);
    for (const std::size_t failing : {0, 1, 50, 99}) {
      CHECK_THROWS_WITH(workers.run(100,
                                    [&](std::size_t task, int) {
                                      if (task == failing) throw std::runtime_error("task failed");
                                    }),
                        "task failed");
      CHECK(sum_to_100(workers) == 5050);
    }
  }
}

TEST_CASE("where every task fails one exception is thrown", "[base]") {
  Workers workers(4);
  CHECK_THROWS_AS(workers.run(100, [](std::size_t, int) { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(sum_to_100(workers) == 5050);
}

TEST_CASE("no task starts after an exception on the only thread", "[base]") {
  Workers workers(1);
  std::size_t last = 0;
  CHECK_THROWS_AS(workers.run(100,
                              [&](std::size_t task, int) {
                                last = task;
                                if (task == 3) throw std::bad_alloc();
                              }),
                  std::bad_alloc);
  CHECK(last == 3);
}

TEST_CASE("denormals are flushed in every task and nowhere else", "[base]") {
  REQUIRE_FALSE(flushes_denormals());
  for (int threads = 1; threads <= 3; ++threads) {
    Workers workers(threads);
    std::atomic<int> unflushed{0};
    workers.run(200, [&](std::size_t, int) { unflushed += !flushes_denormals(); });
    CHECK(unflushed == 0);
    CHECK_FALSE(flushes_denormals());
  }
}

TEST_CASE("the floating-point mode comes back after an exception too", "[base]") {
  Workers workers(1);
  CHECK_THROWS_AS(workers.run(1, [](std::size_t, int) { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK_FALSE(flushes_denormals());
}

TEST_CASE("who flushes denormals already keeps doing so", "[base]") {
  const FlushDenormals outer;
  {
    const FlushDenormals inner;
    CHECK(flushes_denormals());
  }
  CHECK(flushes_denormals());
}

#if defined(__x86_64__)
TEST_CASE("MXCSR is as before, with a rounding mode of the caller's", "[base]") {
  const unsigned before = _mm_getcsr();
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  const unsigned mine = _mm_getcsr();
  {
    const FlushDenormals flush;
    CHECK(_mm_getcsr() == (mine | 0x8040));
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  std::fesetround(FE_TONEAREST);
  CHECK(after == mine);
}
#endif

TEST_CASE("a forked child runs the tasks of its parent's pool", "[base]") {
  Workers workers(3);
  REQUIRE(sum_to_100(workers) == 5050);
  CHECK(exit_code_of_child([&] { return sum_to_100(workers) == 5050 ? 0 : 1; }) == 0);
  CHECK(sum_to_100(workers) == 5050);
}

#if !defined(__SANITIZE_THREAD__)  // which has no new threads after a fork
TEST_CASE("a forked child can make and end pools, also its parent's", "[base]") {
  auto workers = std::make_unique<Workers>(3);
  REQUIRE(sum_to_100(*workers) == 5050);
  CHECK(exit_code_of_child([&] {
          workers.reset();
          Workers own(2);
          return sum_to_100(own) == 5050 ? 0 : 1;
        }) == 0);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need address space of their own
TEST_CASE("more threads than the system gives are an error, not the end of the program", "[base]") {
  const auto start_too_many = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);  // 256 MB more
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    try {
      Workers workers(10000);
    } catch (const UsageError& error) {
      return std::string(error.what()).starts_with("expected to start 10000 threads, found ") ? 0 : 2;
    }
    return 1;
  };
  CHECK(exit_code_of_child(start_too_many) == 0);
}
#endif

TEST_CASE("the available threads are those of the affinity mask", "[base]") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(available_threads() == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const int threads = available_threads();
  sched_setaffinity(0, sizeof before, &before);
  CHECK(threads == 1);
}
