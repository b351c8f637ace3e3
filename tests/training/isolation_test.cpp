// What a training leaves of the process around it: everything as it was.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <locale>
#include <stdexcept>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "fcam/base/error.h"
#include "fcam/data/npy.h"
#include "fcam/training/checkpoint.h"
#include "fcam/training/model_file.h"
#include "support/runs.h"
#include "support/temporary_folder.h"
#include "support/training.h"

extern "C" {
void openblas_set_num_threads(int threads);
int openblas_get_num_threads();
}

using namespace fcam;
using namespace fcam::test;

namespace {

// Without Catch's macros, which are for one thread.
template <class E, class Call>
void expect(Call&& call) {
  try {
    call();
  } catch (const E&) {
    return;
  }
  throw std::logic_error("expected an error");
}

// Most of what the library does: trains, tests, stops, writes and reads every kind of file, and fails.
void do_everything(const TemporaryFolder& folder) {
  Run run("lv", {.epochs = 2, .batch = 16, .threads = 2});
  const Mosaics train = shapes_mosaics(40), test = shapes_mosaics(20, 3, Split::test);
  Log log(folder.file("log.csv"));
  run.trainer.run(train, &test, [&](const Epoch& epoch) {
    log.append(epoch);
    save_checkpoint(folder.file("checkpoint"), run.trainer);
    return true;
  });
  Log::resume(folder.file("log.csv"), 2);
  load_checkpoint(folder.file("checkpoint"), run.trainer);
  save(run.model, folder.file("model"));
  load(run.model, folder.file("model"));
  write_npy(folder.file("x.npy"), {2, 2}, std::vector<float>{1, 2, 3, 1234.5F});
  expect<DataError>([&] { load(run.model, folder.file("x.npy")); });
  expect<WriteError>([&] { save(run.model, folder.file("none/model")); });
  expect<UsageError>([&] { Run nothing("lv", {.epochs = 0}); });
  run.model.focus.weights()[0] = HUGE_VALF;
  Trainer<float> again(run.model, named_loss("lv"), {.threads = 2});
  expect<DivergedError>([&] { again.run(train, nullptr, nullptr); });
}

// Points where thousands and decimals would be of a German locale.
struct German : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

// What is written to a standard descriptor while it lives.
class Captured {
 public:
  Captured(int descriptor, const std::string& path) : descriptor_(descriptor), saved_(dup(descriptor)), path_(path) {
    std::cout.flush();  // what others have not written out yet
    std::fflush(nullptr);
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr || dup2(fileno(file), descriptor) < 0) throw std::runtime_error("cannot capture");
    std::fclose(file);
  }
  ~Captured() { release(); }
  std::string release() {
    std::fflush(nullptr);
    if (saved_ >= 0) {
      dup2(saved_, descriptor_);
      close(saved_);
      saved_ = -1;
    }
    return read_file(path_);
  }

 private:
  int descriptor_, saved_;
  std::string path_;
};

constexpr int last_signal = 31;

std::array<struct sigaction, last_signal + 1> handlers() {
  std::array<struct sigaction, last_signal + 1> all{};
  for (int signal = 1; signal <= last_signal; ++signal)
    sigaction(signal, nullptr, &all[static_cast<std::size_t>(signal)]);
  return all;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor) count += fcntl(descriptor, F_GETFD) >= 0;
  return count;
}

std::string training_bytes() {
  const TemporaryFolder folder;
  do_everything(folder);
  std::string text;
  for (const auto& row : log_without_seconds(folder.file("log.csv"))) {
    for (const std::string& cell : row) text += cell + ",";
  }
  return text + read_file(folder.file("checkpoint")) + read_file(folder.file("model")) +
         read_file(folder.file("x.npy"));
}

}  // namespace

TEST_CASE("the library prints nothing", "[training][isolation]") {
  const TemporaryFolder folder;
  Captured out(STDOUT_FILENO, folder.file("out")), err(STDERR_FILENO, folder.file("err"));
  training_bytes();
  CHECK(out.release().empty());
  CHECK(err.release().empty());
}

TEST_CASE("the library changes no signal handler, no mask and leaves no file open", "[training][isolation]") {
  training_bytes();  // what is set up once is set up
  sigset_t mask_before{}, mask_after{};
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  const auto before = handlers();
  const std::size_t descriptors = open_descriptors();
  training_bytes();
  const auto after = handlers();
  for (std::size_t signal = 1; signal <= last_signal; ++signal) {
    CAPTURE(signal);
    CHECK(before[signal].sa_handler == after[signal].sa_handler);
    CHECK(before[signal].sa_flags == after[signal].sa_flags);
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  for (int signal = 1; signal <= last_signal; ++signal) {
    CHECK(sigismember(&mask_before, signal) == sigismember(&mask_after, signal));
  }
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("the library leaves BLAS threads, rounding and floating-point mode as the caller has them",
          "[training][isolation]") {
  const int blas_threads = openblas_get_num_threads();
  openblas_set_num_threads(2);
  const int callers_threads = openblas_get_num_threads();  // 1 in a build without threads
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  const unsigned mode = _mm_getcsr() & ~_MM_EXCEPT_MASK;
#endif
  training_bytes();
#if defined(__x86_64__)
  CHECK((_mm_getcsr() & ~_MM_EXCEPT_MASK) == mode);
#endif
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  CHECK(rounding == FE_UPWARD);
  CHECK(openblas_get_num_threads() == callers_threads);
  openblas_set_num_threads(blas_threads);
}

TEST_CASE("the library writes and reads the same bytes under a locale with commas and grouped digits, and leaves it",
          "[training][isolation]") {
  const std::string plain = training_bytes();
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new German));
  const std::string c_locale = std::setlocale(LC_ALL, nullptr);
  const std::string german = training_bytes();
  CHECK(std::use_facet<std::numpunct<char>>(std::locale()).decimal_point() == ',');
  CHECK(std::setlocale(LC_ALL, nullptr) == c_locale);
  std::locale::global(before);
  const bool same = german == plain;
  CHECK(same);
}

TEST_CASE("a forked child goes on training, to the bits of its parent", "[training][isolation]") {
  const Mosaics mosaics = shapes_mosaics(40);
  for (const int threads : {1, 3}) {
    Run run("lv", {.epochs = 1, .batch = 40, .threads = threads});
    const auto indices = first_indices(40);
    run.trainer.step(mosaics, indices);
    const TemporaryFolder folder;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(10);  // a child that hangs ends so
      run.trainer.step(mosaics, indices);
      save(run.model, folder.file("child"));
      _exit(0);
    }
    run.trainer.step(mosaics, indices);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    save(run.model, folder.file("parent"));
    const bool same = read_file(folder.file("child")) == read_file(folder.file("parent"));
    CHECK(same);
  }
}

TEST_CASE("weights that are denormal train as those that are zero, and cost no denormal number", "[training]") {
  Run tiny("lv", {.epochs = 2, .batch = 16, .threads = 2}), zero("lv", {.epochs = 2, .batch = 16, .threads = 2});
  std::fill(tiny.model.focus.weights().begin(), tiny.model.focus.weights().end(), 1e-41F);
  std::fill(zero.model.focus.weights().begin(), zero.model.focus.weights().end(), 0.0F);
  tiny.train(shapes_mosaics(40));
  zero.train(shapes_mosaics(40));
  CHECK(same_bits(tiny.model.classify.weights(), zero.model.classify.weights()));
}

TEST_CASE("two threads that train, test, save and load at once come to what each comes to alone",
          "[training][isolation]") {
  const std::string alone = training_bytes();
  std::array<std::string, 2> together;
  std::thread other([&] { together[1] = training_bytes(); });
  together[0] = training_bytes();
  other.join();
  for (const std::string& bytes : together) {
    const bool same = bytes == alone;
    CHECK(same);
  }
}
