// Whole files at once: nothing half-written is ever seen under a final name.
#pragma once

#include <string>
#include <string_view>

namespace fcam {

/// Replaces the file at `path` by bytes that come part by part: written to a temporary beside it, synced, renamed,
/// folder synced. A link stays and the file it leads to is replaced. Where the path names a device, a pipe or an open
/// descriptor (/dev/stdout), writes to the end of it. Members throw WriteError with the reason; then, and where
/// finish() is not called, the former file is untouched and no temporary is left.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void append(std::string_view bytes);
  /// Gives the file its name. Nothing may be appended afterwards.
  void finish();

 private:
  [[noreturn]] void fail(const std::string& why);
  void flush();

  std::string buffer_;
  std::string path_, target_, temporary_;  // no temporary where there is nothing to replace
  int descriptor_ = -1;
};

/// The same with all bytes at once.
void write_atomically(const std::string& path, std::string_view bytes);

/// All bytes of a regular file. Throws DataError if it is missing, a folder, device or pipe, or cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace fcam
