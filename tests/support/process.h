// Runs a program as a user does, without a shell, for the tests of programs from outside.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fcam::test {

/// What to run: arguments[0] is a program in the folder that FCAM_BIN names, build/bin where it is not set.
struct Command {
  std::vector<std::string> arguments = {};
  std::string folder = ".";                                           ///< to run in
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< variables to set
  bool closed_stdin = false, closed_stdout = false;
  int stdout_descriptor = -1;    ///< goes there instead of into Result::out
  std::string stdout_file = {};  ///< or there
  int ignored_signal = 0;        ///< that it is started to ignore, as under nohup; others that end programs do so
  double seconds = 60;           ///< a process that takes longer is killed, and std::runtime_error thrown
};

struct Result {
  int code = -1;   ///< as a shell tells it: 128 + number after a signal
  int signal = 0;  ///< that ended it
  std::string out, err;
};

/// A program that runs. Its standard input is empty.
class Process {
 public:
  explicit Process(const Command& command)
      : out_(temporary_file()), err_(temporary_file()), seconds_(command.seconds), start_(Clock::now()) {
    const char* folder = std::getenv("FCAM_BIN");
    const std::filesystem::path bin = std::filesystem::absolute(folder != nullptr ? folder : "build/bin");
    const std::string program = (bin / command.arguments.at(0)).string();
    std::vector<std::string> arguments = command.arguments, variables = environment(command);
    const std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = command.stdout_descriptor;
    if (!command.stdout_file.empty()) out = open(command.stdout_file.c_str(), O_WRONLY | O_CLOEXEC);
    if (command.stdout_file.empty() && out < 0) out = fileno(out_.get());
    if (in < 0 || out < 0) throw std::runtime_error("cannot open " + command.stdout_file);
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("cannot fork");
    if (child_ == 0) {  // only calls that are safe here
      if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(fileno(err_.get()), 2) < 0) _exit(126);
      for (const int signal : {SIGHUP, SIGINT}) ::signal(signal, SIG_DFL);  // the tests may run under nohup
      if (command.ignored_signal != 0) ::signal(command.ignored_signal, SIG_IGN);
      if (command.closed_stdin) close(0);
      if (command.closed_stdout) close(1);
      if (chdir(command.folder.c_str()) != 0) _exit(126);
      execve(program.c_str(), argv.data(), envp.data());
      _exit(127);
    }
    close(in);
    if (!command.stdout_file.empty()) close(out);
  }
  ~Process() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const { kill(child_, signal); }

  /// Waits until it has written `text` to stderr.
  void wait_for(const std::string& text) {
    while (contents(err_.get()).find(text) == std::string::npos) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child_) {
        throw std::runtime_error("the program ended without '" + text + "': " + contents(err_.get()));
      }
      pause();
    }
  }

  Result wait() {
    int status = 0;
    while (waitpid(child_, &status, WNOHANG) == 0) pause();
    child_ = 0;
    Result result{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                  .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                  .out = contents(out_.get()),
                  .err = contents(err_.get())};
    if (result.code == 127) throw std::runtime_error("cannot run the program; is it built, and FCAM_BIN its folder?");
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;

  static File temporary_file() {
    File file(std::tmpfile());
    if (!file) throw std::runtime_error("cannot make a temporary file");
    fcntl(fileno(file.get()), F_SETFD, FD_CLOEXEC);
    return file;
  }
  static std::vector<std::string> environment(const Command& command) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      bool changed = false;
      for (const auto& [name, value] : command.environment) changed |= std::string(*variable).starts_with(name + "=");
      if (!changed) variables.emplace_back(*variable);
    }
    for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
    return variables;
  }
  static std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }
  // Read from the start, whatever the child does with the offset that it shares.
  static std::string contents(std::FILE* file) {
    std::string bytes;
    char chunk[1 << 14];
    for (ssize_t count; (count = pread(fileno(file), chunk, sizeof chunk, static_cast<off_t>(bytes.size()))) > 0;) {
      bytes.append(chunk, static_cast<std::size_t>(count));
    }
    return bytes;
  }
  void pause() const {
    if (std::chrono::duration<double>(Clock::now() - start_).count() > seconds_) {
      throw std::runtime_error("the program takes too long; it has written: " + contents(err_.get()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  File out_, err_;
  double seconds_;
  Clock::time_point start_;
  pid_t child_ = -1;
};

inline Result run(const Command& command) { return Process(command).wait(); }

}  // namespace fcam::test
