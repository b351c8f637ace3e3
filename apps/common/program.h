// What all programs do at their ends: exit codes, one line an error, standard output that is known to have arrived.
#pragma once

#include <functional>

#include "common/command_line.h"

namespace fcam::apps {

/// Exit codes of every program.
enum ExitCode {
  exit_done = 0,
  exit_internal = 1,
  exit_usage = 2,
  exit_data = 3,
  exit_write = 4,
  exit_diverged = 5,
};

/// Runs the body of a program and returns its exit code. An exception becomes one line on stderr, "NAME: error: ...",
/// and the code of its kind; so does standard output that could not be written (a closed pipe ends quietly).
int run_program(const char* name, const std::function<int()>& body);

/// The options that every program has.
struct CommonOptions {
  std::size_t threads;  ///< default: the cores this process may run on
  std::uint64_t seed = 1;
  bool quiet = false;

  CommonOptions();
};
void declare(CommandLine& line, CommonOptions& options);

/// Ends a program that a signal has asked to stop, with 128 and its number; what is half-written goes on the way.
struct Stopped {
  int signal;
};

/// While it lives, the first SIGINT, SIGTERM or SIGHUP only sets a flag; a second signal, of the same kind or another,
/// ends the process at once. SIGHUP stays ignored where it was, as under nohup.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  /// The signal that has arrived, or 0.
  int received() const;
  /// Throws Stopped where one has arrived.
  void check() const;

 private:
  bool with_hangup_;
};

}  // namespace fcam::apps
