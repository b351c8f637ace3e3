// A training step allocates nothing once its buffers are there. Operator new is replaced for the whole test program;
// the sanitizers want their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FCAM_OWN_NEW 0
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FCAM_OWN_NEW 0
#endif
#if !defined(FCAM_OWN_NEW)

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

std::atomic<bool> counting{false};
std::atomic<std::size_t> allocations{0};

void* allocate(std::size_t size, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  void* place = nullptr;
  if (size == 0) size = 1;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    place = std::malloc(size);
  } else if (posix_memalign(&place, alignment, size) != 0) {
    place = nullptr;
  }
  return place;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* place = allocate(size, alignment)) return place;
  throw std::bad_alloc();
}

constexpr std::size_t plain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, plain); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, plain); }
void* operator new(std::size_t size, std::align_val_t a) {
  return allocate_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return allocate_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, plain); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, plain); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(a));
}
// Not inlined, or the compiler takes a free() here for one of memory from somebody else's new.
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place, std::size_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete[](void* place, const std::nothrow_t&) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete[](void* place, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(place);
}

namespace {

// All that a step can be made of.
const std::vector<std::string> step_loss_names{"sa", "ha", "lv", "ha-sampled", "lv-topk", "lv-em"};

// Lets threads wait until so many of them have come; afterwards nobody waits.
class Meeting {
 public:
  explicit Meeting(int threads) : missing_(threads) {}

  void wait() {
    std::unique_lock lock(mutex_);
    if (missing_ > 0 && here_.insert(std::this_thread::get_id()).second && --missing_ == 0) all_here_.notify_all();
    all_here_.wait(lock, [&] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::set<std::thread::id> here_;
  int missing_;
};

// Allocations of operator new while `call` runs, on all threads.
template <class Call>
std::size_t allocations_of(Call&& call) {
  allocations = 0;
  counting = true;
  call();
  counting = false;
  return allocations;
}

// Allocations of each step of those sizes after two of the first size.
std::vector<std::size_t> allocations_of_steps(const std::string& name, const TrainerOptions& options,
                                              const std::vector<std::size_t>& sizes) {
  const Mosaics mosaics = shapes_mosaics(64);
  const auto indices = first_indices(64);
  // Both threads take part in the first step, so that both have made their buffers.
  Meeting meeting(options.threads);
  const LossFunction<float> loss = [&, inner = named_loss(name)](Graph<float>& graph, const Batch<float>& batch) {
    meeting.wait();
    return inner(graph, batch);
  };
  TrainerOptions with_rule = options;
  with_rule.inference = find_loss(name).step_inference;
  Run run(loss, with_rule);
  for (int i = 0; i < 2; ++i) run.trainer.step(mosaics, std::span(indices).first(sizes[0]));
  std::vector<std::size_t> counts;
  for (const std::size_t size : sizes) {
    counts.push_back(allocations_of([&] { run.trainer.step(mosaics, std::span(indices).first(size)); }));
  }
  return counts;
}

}  // namespace

TEST_CASE("allocations are counted in every form of new", "[training]") {
  CHECK(allocations_of([] {}) == 0);
  CHECK(allocations_of([] { ::operator delete(::operator new(8)); }) == 1);
  CHECK(allocations_of([] { ::operator delete(::operator new(8, std::nothrow), std::nothrow); }) == 1);
  CHECK(allocations_of([] { Buffer<float> buffer(100, 0.0F); }) == 1);
  CHECK(allocations_of([] { std::vector<int> numbers(100); }) == 1);
}

TEST_CASE("a step allocates nothing after the first two, for each loss and each optimiser", "[training]") {
  for (const std::string& loss : step_loss_names) {
    for (const auto optimizer : {OptimizerOptions::Kind::sgd, OptimizerOptions::Kind::adam}) {
      CAPTURE(loss);
      const auto counts = allocations_of_steps(
          loss, {.optimizer = optimizer, .augmentation = {.flip = true, .crop = true}, .threads = 1}, {32, 32, 32});
      CHECK(counts == std::vector<std::size_t>(3, 0));
    }
  }
}

TEST_CASE("a step allocates nothing on several threads either", "[training]") {
  for (const std::string& loss : step_loss_names) {
    CAPTURE(loss);
    CHECK(allocations_of_steps(loss, {.threads = 2}, {32, 32, 32}) == std::vector<std::size_t>(3, 0));
  }
}

TEST_CASE("a shorter last batch allocates nothing, nor do the full ones after it", "[training]") {
  for (const std::string& loss : step_loss_names) {
    for (const int threads : {1, 2}) {
      CAPTURE(loss, threads);
      CHECK(allocations_of_steps(loss, {.threads = threads}, {64, 37, 64, 3, 64}) == std::vector<std::size_t>(5, 0));
    }
  }
}

#endif
