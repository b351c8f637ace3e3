#include "fcam/base/file.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
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
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
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

// A new name, or that one is gone, must itself survive a power cut; a file system that cannot sync a folder has done
// what it can.
void sync_folder_of(const std::string& path) {
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() >= 0) static_cast<void>(::fsync(folder.number()));
}

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw WriteError(quote(path) + ": expected to write it, found: " + why);
}

// Where links at the end of a path lead to, whether something is there or not.
std::string resolved(const std::string& path) {
  constexpr int most_links = 40;  // as the system follows
  std::string target = path;
  for (int links = 0; !names_descriptor(target); ++links) {
    char text[PATH_MAX];
    const ssize_t size = ::readlink(target.c_str(), text, sizeof text);
    if (size < 0) return target;  // no link
    if (links == most_links) {
      errno = ELOOP;
      fail(path, reason());
    }
    const std::string link(text, static_cast<std::size_t>(size));
    target = link.starts_with('/') ? link : folder_of(target) + "/" + link;
  }
  return target;
}

}  // namespace

struct AtomicFile::State {
  std::string path, target, temporary;  // no temporary: bytes go straight to the target
  std::string kept;                     // not yet written
  Descriptor out{-1};

  void write(std::string_view bytes) {
    if (write_all(out.number(), bytes)) return;
    if (temporary.empty()) fail(path, reason());
    fail_and_remove();
  }

  // Opens the temporary, alone: it may be that of a killed program, which is taken over, or of one at work.
  void open_temporary() {
    for (;;) {
      out = Descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
      if (out.number() < 0) fail(path, reason());
      if (::flock(out.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        fail(path, "another program that is writing it");
      }
      struct stat opened {
      }, named{};
      if (::fstat(out.number(), &opened) != 0) fail(path, reason());
      // Between the two calls above its owner may have given it its final name: that file is not ours.
      if (::lstat(temporary.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) {
        break;
      }
    }
    if (::ftruncate(out.number(), 0) != 0) fail_and_remove();
  }
  [[noreturn]] void fail_and_remove() {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    temporary.clear();
    fail(path, why);
  }
};

AtomicFile::AtomicFile(const std::string& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  s.target = resolved(path);
  struct stat status {};
  const bool exists = ::stat(s.target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, "a folder of that name");
  if (exists && (!S_ISREG(status.st_mode) || names_descriptor(s.target))) {
    s.out = Descriptor(::open(s.target.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (s.out.number() < 0) fail(path, reason());
    return;
  }
  s.temporary = s.target + ".tmp";
  s.open_temporary();
}

AtomicFile::~AtomicFile() {
  if (!state_->temporary.empty()) ::unlink(state_->temporary.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  constexpr std::size_t most_kept = 1 << 16;
  state_->kept += bytes;
  if (state_->kept.size() >= most_kept) flush();
}

void AtomicFile::flush() {
  state_->write(state_->kept);
  state_->kept.clear();
}

void AtomicFile::remove_former() {
  const State& s = *state_;
  if (s.temporary.empty()) return;
  if (::unlink(s.target.c_str()) != 0 && errno != ENOENT) fail(s.path, reason());
  sync_folder_of(s.target);
}

void AtomicFile::commit() {
  flush();
  State& s = *state_;
  if (s.temporary.empty()) {
    if (!s.out.close()) fail(s.path, reason());
    return;
  }
  // Closing may tell of bytes that did not arrive, but nobody may take the temporary before it has its name: a second
  // descriptor holds the lock.
  const Descriptor lock(::fcntl(s.out.number(), F_DUPFD_CLOEXEC, 0));
  if (::fsync(s.out.number()) != 0 || !s.out.close() || ::rename(s.temporary.c_str(), s.target.c_str()) != 0) {
    s.fail_and_remove();
  }
  s.temporary.clear();
  sync_folder_of(s.target);
}

void write_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw WriteError(quote(path) + ": expected to remove it, found: " + error.message());
}

void require_writable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
  AtomicFile file(path);
  if (names_descriptor(resolved(path))) return;
  file.write("?");  // a full disk gives a name, but no room
  file.flush();
}

struct AppendFile::State {
  std::string path;
  Descriptor out{-1};
};

AppendFile::AppendFile(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->out = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (state_->out.number() < 0) fail(path, reason());
}

AppendFile::~AppendFile() = default;
AppendFile::AppendFile(AppendFile&&) noexcept = default;

void AppendFile::append(std::string_view bytes) {
  const int out = state_->out.number();
  struct stat before {};
  if (::fstat(out, &before) != 0) fail(state_->path, reason());
  if (write_all(out, bytes) && (::fsync(out) == 0 || !S_ISREG(before.st_mode))) return;
  const std::string why = reason();
  if (S_ISREG(before.st_mode)) static_cast<void>(::ftruncate(out, before.st_size));
  fail(state_->path, why);
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
