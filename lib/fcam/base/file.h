// Files that are safe against kills, full disks and power cuts: nothing half-written is ever seen under a final name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fcam {

/// A file that takes the place of the one at `path` once it is whole: written to a temporary beside it, PATH.tmp, then
/// synced, renamed, folder synced. A link stays, and the file it leads to is replaced, or made where there is none.
/// Where the path names a device, a pipe or an open descriptor (/dev/stdout), writes go straight to the end of it.
/// A temporary that a killed program has left is taken over; one that a living program writes to is a WriteError.
class AtomicFile {
 public:
  /// Throws WriteError where the file could not be written: missing folder, no permission, a folder of that name.
  explicit AtomicFile(const std::string& path);
  /// Removes the temporary unless it was committed.
  ~AtomicFile();

  /// Adds bytes, which may be kept back until there are more. Throws WriteError with the reason; the former file is
  /// untouched, here and in commit.
  void write(std::string_view bytes);
  /// Writes what was kept back.
  void flush();
  /// Removes the former file; until commit there is none. For files that are only right together. Throws WriteError.
  void remove_former();
  /// Gives the file its name; to be called once, at the end. Throws WriteError.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An AtomicFile of `bytes`.
void write_atomically(const std::string& path, std::string_view bytes);

/// Throws WriteError where a file at `path` could not be written, and leaves everything as it was. For checks before
/// long work.
void require_writable(const std::string& path);

/// Removes the file where there is one. Throws WriteError.
void remove_file(const std::string& path);

/// An existing file that grows by whole pieces.
class AppendFile {
 public:
  /// Throws WriteError.
  explicit AppendFile(const std::string& path);
  ~AppendFile();
  AppendFile(AppendFile&&) noexcept;

  /// Adds bytes and syncs them. Throws WriteError with the reason; then nothing of them is left in the file.
  void append(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All bytes of a regular file. Throws DataError if it is missing, a folder, device or pipe, or cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace fcam
