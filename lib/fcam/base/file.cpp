#include "fcam/base/file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fcam/base/error.h"

namespace fcam {
namespace {

std::string reason() { return std::strerror(errno); }

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Whether `path` stands for an open descriptor of this process, not for a place in a folder: nothing to replace there,
// even when a regular file is behind it.
bool names_descriptor(std::string_view path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw WriteError(quote(path) + ": expected to write it, found: " + why);
}

}  // namespace

void write_atomically(const std::string& path, std::string_view bytes) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, "a folder of that name");
  if (exists && (!S_ISREG(status.st_mode) || names_descriptor(path))) {
    Descriptor out(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (out.number() < 0 || !write_all(out.number(), bytes) || !out.close()) fail(path, reason());
    return;
  }
  std::error_code ignored;
  const std::string target = exists ? std::filesystem::canonical(path, ignored).string() : path;
  const std::string temporary = target + ".tmp";
  Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (out.number() < 0) fail(path, reason());
  if (!write_all(out.number(), bytes) || ::fsync(out.number()) != 0 || !out.close() ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    fail(path, why);
  }
  // The new name itself must survive a power cut; a file system that cannot sync a folder has done what it can.
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() >= 0) static_cast<void>(::fsync(folder.number()));
}

std::string read_bytes(const std::string& path) {
  const auto fail_reading = [&](const std::string& why) {
    throw DataError(quote(path) + ": expected a readable file, found: " + why);
  };
  const Descriptor in(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // a pipe must not make it wait
  struct stat status {};
  if (in.number() < 0 || ::fstat(in.number(), &status) != 0) fail_reading(reason());
  if (S_ISDIR(status.st_mode)) fail_reading("a folder");
  if (!S_ISREG(status.st_mode)) fail_reading("a device, pipe or socket");
  std::string bytes;
  if (status.st_size > 0) bytes.reserve(static_cast<std::size_t>(status.st_size));
  char chunk[1 << 16];
  for (;;) {
    const ssize_t count = ::read(in.number(), chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_reading(reason());
    if (count == 0) return bytes;
    bytes.append(chunk, static_cast<std::size_t>(count));
  }
}

}  // namespace fcam
