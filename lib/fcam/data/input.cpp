#include "fcam/data/input.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace fcam {
namespace fs = std::filesystem;

namespace {

// The same for a file under all its names; none where there is nothing.
using Identity = std::pair<std::uint64_t, std::uint64_t>;
std::optional<Identity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

}  // namespace

DataError bad_input(const std::string& path, const std::string& expected, const std::string& found) {
  return DataError(quote(path) + ": expected " + expected + ", found " + found);
}

std::string quote_start(std::string_view text) {
  constexpr std::size_t most = 80;
  return quote(text.substr(0, most)) + (text.size() > most ? "... of " + std::to_string(text.size()) + " bytes" : "");
}

std::size_t saturating_count(const Shape& shape) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  if (std::count(shape.begin(), shape.end(), std::size_t{0}) > 0) return 0;
  std::size_t count = 1;
  for (const std::size_t size : shape) count = count > most / size ? most : count * size;
  return count;
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (status.type() == fs::file_type::not_found) throw bad_input(path_, "a file", "nothing of that name");
  if (error) throw bad_input(path_, "a readable file", error.message());
  if (fs::is_directory(status)) throw bad_input(path_, "a file", "a folder");
  if (!fs::is_regular_file(status)) throw bad_input(path_, "a regular file", "a device, pipe or socket");
  errno = 0;
  stream_.open(path_, std::ios::binary);
  if (!stream_) throw bad_input(path_, "a readable file", std::generic_category().message(errno));
  size_ = fs::file_size(path_, error);
  if (error) throw bad_input(path_, "a readable file", error.message());
}

void InputFile::read(void* out, std::size_t count) {
  stream_.read(static_cast<char*>(out), static_cast<std::streamsize>(count));
  const auto got = static_cast<std::size_t>(stream_.gcount());
  if (got != count) throw bad_input(path_, std::to_string(count) + " more bytes", std::to_string(got));
}

bool has_file(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (error) throw bad_input(path.string(), "a readable folder around it", error.message());
  return exists;
}

std::vector<std::string> files_there(const std::string& folder, const std::vector<std::vector<std::string>>& names) {
  std::vector<std::string> paths;
  for (const std::vector<std::string>& spellings : names) {
    const auto found = std::find_if(spellings.begin(), spellings.end(),
                                    [&](const std::string& name) { return has_file(folder, name); });
    if (found != spellings.end()) paths.push_back((fs::path(folder) / *found).string());
  }
  return paths;
}

std::string find_file(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code error;
  if (!fs::exists(folder, error)) throw bad_input(folder, "a folder", error ? error.message() : "nothing of that name");
  if (!fs::is_directory(folder, error)) throw bad_input(folder, "a folder", error ? error.message() : "a file");
  if (const auto there = files_there(folder, {names}); !there.empty()) return there[0];
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  throw bad_input(folder, (names.size() > 1 ? "one of " : "") + list, "no such file in this folder");
}

void require_no_shared_file(const std::vector<std::string>& train, const std::vector<std::string>& test) {
  std::map<Identity, const std::string*> known;
  for (const std::string& path : train) {
    if (const auto identity = identity_of(path)) known.emplace(*identity, &path);
  }
  for (const std::string& path : test) {
    const auto identity = identity_of(path);
    const auto found = identity ? known.find(*identity) : known.end();
    if (found == known.end()) continue;
    throw bad_input(path, "a test file that is not used for training", "the same file as " + quote(*found->second));
  }
}

}  // namespace fcam
