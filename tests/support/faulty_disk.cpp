// To be preloaded into a program: makes its output fail from a given moment on. FCAM_FAULT says when, "CALL N ERROR":
// from the N-th call of open, write, fsync, close or rename on, from 1; or "bytes N ERROR": once N bytes are written.
// Only files opened for writing count, not the standard descriptors. FCAM_KEPT is the name of a file that can be
// neither renamed nor removed, as one that the system holds as immutable.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Fault {
  char call[16] = "";
  long moment = 0;
  int error = 0;

  Fault() {
    const char* text = std::getenv("FCAM_FAULT");
    if (text == nullptr || std::sscanf(text, "%15s %ld %d", call, &moment, &error) != 3) std::strcpy(call, "none");
    unsetenv("LD_PRELOAD");  // not for programs that this one starts
  }
};

Fault& fault() {
  static Fault instance;
  return instance;
}

// Counts a call; whether it is to fail.
bool fails(const char* call) {
  Fault& f = fault();
  if (std::strcmp(f.call, call) != 0 || --f.moment > 0) return false;
  errno = f.error;
  return true;
}

bool is_output(int descriptor) {
  struct stat status {};
  const int flags = fcntl(descriptor, F_GETFL);
  return descriptor > 2 && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(descriptor, &status) == 0 &&
         S_ISREG(status.st_mode);
}

bool is_kept(const char* path) {
  const char* name = std::getenv("FCAM_KEPT");
  const char* slash = std::strrchr(path, '/');
  if (name == nullptr || std::strcmp(slash == nullptr ? path : slash + 1, name) != 0) return false;
  errno = EPERM;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_or_fail(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && fails("open")) return -1;
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) { return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0; }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_or_fail("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_or_fail("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (is_output(descriptor)) {
    if (fails("write")) return -1;
    Fault& f = fault();
    if (std::strcmp(f.call, "bytes") == 0) {
      if (f.moment <= 0 && count > 0) {
        errno = f.error;
        return -1;
      }
      if (static_cast<long>(count) > f.moment) count = static_cast<size_t>(f.moment);
      f.moment -= static_cast<long>(count);
    }
  }
  return next<ssize_t(int, const void*, size_t)>("write")(descriptor, bytes, count);
}

int fsync(int descriptor) {
  if (is_output(descriptor) && fails("fsync")) return -1;
  return next<int(int)>("fsync")(descriptor);
}

int close(int descriptor) {
  const bool failing = is_output(descriptor) && fails("close");
  const int error = errno;
  const int result = next<int(int)>("close")(descriptor);  // it is closed even where that fails
  if (!failing) return result;
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) noexcept {
  if (fails("rename")) return -1;
  if (is_kept(from)) return -1;
  return next<int(const char*, const char*)>("rename")(from, to);
}

int remove(const char* path) noexcept { return is_kept(path) ? -1 : next<int(const char*)>("remove")(path); }

int unlink(const char* path) noexcept { return is_kept(path) ? -1 : next<int(const char*)>("unlink")(path); }
}
