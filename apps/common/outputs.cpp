#include "common/outputs.h"

#include <filesystem>

#include "fcam/base/error.h"
#include "fcam/base/file.h"

namespace fcam::apps {

namespace fs = std::filesystem;

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const bool a_there = fs::exists(a, ignored), b_there = fs::exists(b, ignored);
  if (a_there != b_there) return false;
  if (a_there) return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
  const auto place = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  return place(a) == place(b);
}

void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs,
                   const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, path] = outputs[i];
    if (path.empty()) continue;
    for (const std::string& input : inputs) {
      if (input.empty() || !same_file(path, input)) continue;
      throw UsageError(name + ": expected another file than one that is read, found " + quote(path));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [other_name, other_path] = outputs[j];
      if (other_path.empty() || !same_file(path, other_path)) continue;
      throw UsageError(name + ": expected another file than that of --" + other_name + ", found " + quote(path));
    }
  }
  for (const auto& [name, path] : outputs) {
    if (!path.empty()) require_writable(path);
  }
}

}  // namespace fcam::apps
