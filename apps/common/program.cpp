#include "common/program.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <stdexcept>
#include <streambuf>

#include "fcam/base/error.h"
#include "fcam/base/parallel.h"

namespace fcam::apps {
namespace {

// The handler may run on any thread.
std::atomic<int> received_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal) {
  received_signal = signal;
  for (const int next : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(next, nullptr, &action) == 0 && action.sa_handler == note_signal) std::signal(next, SIG_DFL);
  }
}

int complain(const char* name, const char* message, int code) {
  std::fprintf(stderr, "%s: error: %s\n", name, message);
  return code;
}

int complain_of_memory(const char* name) {
  return complain(name,
                  "memory: expected sizes that fit into it, found a need for more; fewer or smaller patches, fewer "
                  "mosaics (--train, --test, --batch) and smaller networks need less",
                  exit_usage);
}

// Whether it is a pipe whose reading end is closed.
bool nobody_reads(int descriptor) {
  pollfd state{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0;
}

int guarded(const char* name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    return complain(name, error.what(), exit_usage);
  } catch (const DataError& error) {
    return complain(name, error.what(), exit_data);
  } catch (const WriteError& error) {
    const bool standard_output = std::string_view(error.what()).starts_with(quote("/dev/stdout"));
    if (standard_output && nobody_reads(STDOUT_FILENO)) return exit_write;  // a closed pipe ends quietly
    return complain(name, error.what(), exit_write);
  } catch (const DivergedError& error) {
    return complain(name, error.what(), exit_diverged);
  } catch (const Stopped& stopped) {
    return 128 + stopped.signal;
  } catch (const std::length_error&) {  // more than a container can hold
    return complain_of_memory(name);
  } catch (const std::bad_alloc&) {
    return complain_of_memory(name);
  } catch (const std::exception& error) {
    return complain(name, error.what(), exit_internal);
  }
}

// Standard output under std::cout that remembers why it failed first: what fails later may have no reason left.
class StandardOutput : public std::streambuf {
 public:
  StandardOutput() : former_(std::cout.rdbuf(this)) {}
  ~StandardOutput() override { std::cout.rdbuf(former_); }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// errno of the first failure; 0: there was none.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    errno = 0;
    const std::size_t written = std::fwrite(bytes, 1, static_cast<std::size_t>(count), stdout);
    if (written < static_cast<std::size_t>(count)) note_error();
    return static_cast<std::streamsize>(written);
  }
  int sync() override {
    errno = 0;
    if (std::fflush(stdout) != 0) note_error();
    return error_ == 0 ? 0 : -1;
  }

 private:
  void note_error() {
    if (error_ == 0) error_ = errno != 0 ? errno : EIO;
  }

  std::streambuf* former_;
  int error_ = 0;
};

// Where a standard descriptor is closed, no file of ours must get its number and then what is printed.
void hold_standard_descriptors() {
  for (;;) {
    const int descriptor = ::open("/dev/null", O_RDONLY);  // the lowest that is free; writing to it fails
    if (descriptor > STDERR_FILENO) ::close(descriptor);
    if (descriptor < 0 || descriptor > STDERR_FILENO) return;
  }
}

}  // namespace

int run_program(const char* name, const std::function<int()>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as a failed write
  std::signal(SIGXFSZ, SIG_IGN);  // so does a file that may not grow
  hold_standard_descriptors();
  StandardOutput output;
  const int code = guarded(name, body);
  std::cout.flush();
  if (output.error() == 0) return code;
  if (output.error() == EPIPE || nobody_reads(STDOUT_FILENO)) return code != exit_done ? code : exit_write;
  const std::string reason = std::strerror(output.error());
  const int write_code =
      complain(name, ("standard output: expected to write it, found: " + reason).c_str(), exit_write);
  return code != exit_done ? code : write_code;
}

CommonOptions::CommonOptions() : threads(static_cast<std::size_t>(available_threads())) {}

void declare(CommandLine& line, CommonOptions& options) {
  line.group("Common options");
  line.count("threads", options.threads, 1, 1024,
             "threads to work with; the numbers that come out are the same for any", "one a core");
  line.not_recorded("threads");
  line.count("seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(),
             "of the data, the initial weights and the order, each its own stream");
  line.flag("quiet", options.quiet, "no progress; results and errors still print");
  line.not_recorded("quiet");
}

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action {
  }, hangup{};
  sigaction(SIGHUP, nullptr, &hangup);
  with_hangup_ = hangup.sa_handler != SIG_IGN;
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (with_hangup_) sigaction(SIGHUP, &action, nullptr);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (with_hangup_) std::signal(SIGHUP, SIG_DFL);
}

int StopSignals::received() const { return received_signal; }

void StopSignals::check() const {
  if (received() != 0) throw Stopped{received()};
}

}  // namespace fcam::apps
