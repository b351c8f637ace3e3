// A disk that is full, for the tests of what writes files.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace fcam::test {

/// Lets no file grow beyond that many bytes while it lives.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : former_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{bytes, former_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &former_);
    std::signal(SIGXFSZ, former_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit former_{};
  void (*former_handler_)(int);
};

}  // namespace fcam::test
