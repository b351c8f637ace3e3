// Whole files at once: nothing half-written is ever seen under a final name.
#pragma once

#include <string>
#include <string_view>

namespace fcam {

/// Replaces the file at `path` by `bytes`: written to a temporary beside it, synced, renamed, folder synced. A link
/// stays and the file it leads to is replaced. Where the path names a device, a pipe or an open descriptor
/// (/dev/stdout), writes to the end of it. Throws WriteError with the reason; then the former file is untouched and no
/// temporary is left.
void write_atomically(const std::string& path, std::string_view bytes);

/// All bytes of a regular file. Throws DataError if it is missing, a folder, device or pipe, or cannot be read.
std::string read_bytes(const std::string& path);

}  // namespace fcam
