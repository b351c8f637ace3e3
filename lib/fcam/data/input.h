// Input files of data sets: finding and opening them, and the wording of what is wrong with them.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/tensor.h"

namespace fcam {

/// The error "'path': expected X, found Y".
DataError bad_input(const std::string& path, const std::string& expected, const std::string& found);

/// quote() of what was found in a file, cut where it is long: that must not decide how long a message gets.
std::string quote_start(std::string_view text);

/// Number of elements of a shape that came from a file: the largest std::size_t where the product does not fit into
/// one.
std::size_t saturating_count(const Shape& shape);

/// A regular file, open for reading from its start.
class InputFile {
 public:
  /// Throws DataError if there is no such file, it is no regular file (a folder, say), or it may not be read.
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< in bytes, when it was opened

  /// Reads the next `count` bytes. Throws DataError if the file ends before.
  void read(void* out, std::size_t count);

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  std::ifstream stream_;
};

/// Whether `folder` holds something called `name`. Throws DataError if that cannot be found out.
bool has_file(const std::string& folder, const std::string& name);

/// Path of the first of `names` that `folder` holds. Throws DataError, with all names, if it holds none of them.
std::string find_file(const std::string& folder, const std::vector<std::string>& names);

/// Paths of those files that `folder` holds, each under the first of its names that is there.
std::vector<std::string> files_there(const std::string& folder, const std::vector<std::vector<std::string>>& names);

/// Throws DataError where a file that test items are read from is one that training items are read from, under whatever
/// name or link.
void require_no_shared_file(const std::vector<std::string>& train, const std::vector<std::string>& test);

}  // namespace fcam
