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

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("a folder of that name");
  if (exists && (!S_ISREG(status.st_mode) || names_descriptor(path))) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  } else {
    std::error_code ignored;
    target_ = exists ? std::filesystem::canonical(path, ignored).string() : path;
    descriptor_ = ::open((target_ + ".tmp").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) temporary_ = target_ + ".tmp";
  }
  if (descriptor_ < 0) fail(reason());
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileWriter::fail(const std::string& why) {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
  throw WriteError(quote(path_) + ": expected to write it, found: " + why);
}

void FileWriter::flush() {
  if (!write_all(descriptor_, buffer_)) fail(reason());
  buffer_.clear();
}

void FileWriter::append(std::string_view bytes) {
  constexpr std::size_t enough = 1 << 16;
  if (buffer_.size() + bytes.size() < enough) {
    buffer_ += bytes;
    return;
  }
  flush();
  if (!write_all(descriptor_, bytes)) fail(reason());
}

void FileWriter::finish() {
  flush();
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail(reason());
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(reason());
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(reason());
  temporary_.clear();
  // The new name itself must survive a power cut; a file system that cannot sync a folder has done what it can.
  const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number() >= 0) static_cast<void>(::fsync(folder.number()));
}

void write_atomically(const std::string& path, std::string_view bytes) {
  FileWriter file(path);
  file.append(bytes);
  file.finish();
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
