// What the fuzzers share: inputs as files, and a limit on the memory that reading one may take.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fcam/base/error.h"
#include "support/temporary_folder.h"

namespace fcam::fuzz {

/// Memory that is held on top of what was held before; ends the process where it exceeds the limit.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes) {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(allocated, freed);
    if (installed == 0) std::abort();
    held() = 0;
    limit() = static_cast<std::int64_t>(bytes);
  }
  ~MemoryLimit() { limit() = none; }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static constexpr std::int64_t none = INT64_MAX;
  static std::atomic<std::int64_t>& held() {
    static std::atomic<std::int64_t> bytes{0};
    return bytes;
  }
  static std::atomic<std::int64_t>& limit() {
    static std::atomic<std::int64_t> bytes{none};
    return bytes;
  }
  static void allocated(const volatile void*, std::size_t size) {
    const std::int64_t now = held() += static_cast<std::int64_t>(size);
    if (now <= limit()) return;
    std::fprintf(stderr, "memory: %lld bytes are held, %zu of them new; the limit is %lld\n",
                 static_cast<long long>(now), size, static_cast<long long>(limit()));
    limit() = none;
    std::abort();
  }
  static void freed(const volatile void* memory) {
    held() -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
  }
};

/// Calls a reader that may throw the library's errors, but no others, and may hold `factor` times the size of its
/// input and some more.
template <class Read>
void attempt(std::size_t input_size, std::size_t factor, Read&& read) {
  constexpr std::size_t slack = 1 << 20;
  const MemoryLimit limit(input_size * factor + slack);
  try {
    read();
  } catch (const Error&) {
  }
}

/// The factor of formats where a label of a byte becomes an int with all that a vector has in reserve.
inline constexpr std::size_t plain = 32;
/// The factor where data may be packed: three times what deflate can make of them, for a buffer that grows by doubling
/// and its predecessor.
inline constexpr std::size_t packed = 3 * 1032;

inline std::size_t factor_of(std::string_view bytes) { return bytes.starts_with("\x1f\x8b") ? packed : plain; }

/// A file in memory.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("cannot make a file in memory");
  }
  /// Path of the file, now with these bytes.
  std::string with(std::string_view bytes) const {
    if (ftruncate(descriptor_, 0) != 0) std::abort();
    if (pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

/// A folder whose entries lead to files in memory.
class MemoryFolder {
 public:
  std::string path() const { return folder_.path().string(); }
  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_symlink(target, folder_.path() / name);
  }

 private:
  test::TemporaryFolder folder_;
};

/// Takes parts off an input.
class Parts {
 public:
  Parts(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return first;
  }
  /// A part with its size before it, in two bytes, the lower one first.
  std::string_view part() {
    std::size_t size = byte();
    size |= std::size_t{byte()} << 8;
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace fcam::fuzz
