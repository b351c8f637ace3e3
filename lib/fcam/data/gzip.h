// Whole files as bytes, gzip or not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fcam {

/// Tells from the first bytes of a file how many bytes the whole has, 0 where they do not tell.
using SizeFromStart = std::function<std::size_t(std::span<const std::uint8_t>)>;

/// Content of a file, unpacked if it starts with the bytes 1f 8b of gzip, whatever its name is; several gzip members
/// are joined, zeros after the last one are left alone. Throws DataError if the file cannot be read, or if its gzip
/// data end early, are damaged (checksums are verified) or are followed by something else; `expected_size` only serves
/// the message about data that end early.
std::vector<std::uint8_t> read_unpacked(const std::string& path, const SizeFromStart& expected_size = nullptr);

}  // namespace fcam
