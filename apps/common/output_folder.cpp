#include "common/output_folder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "fcam/base/error.h"
#include "fcam/base/file.h"

namespace fcam::apps {
namespace {

// Throws WriteError where something that is there could not be removed: what cannot be moved cannot be removed, either.
void require_removable(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return;
  const std::string aside = path + ".tmp";  // that a file being written has: open() has just seen that it is free
  std::filesystem::rename(path, aside, error);
  if (!error) std::filesystem::rename(aside, path, error);
  if (error) throw WriteError(quote(path) + ": expected to remove it, found: " + error.message());
}

}  // namespace

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    throw WriteError(quote(path) + ": expected to make a folder of that name, found: " +
                     (error ? error.message() : "something else of that name"));
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::take(const std::string& folder) {
  if (descriptor_ >= 0) return;
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Where the file system has no locks there is none.
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UsageError("out: expected a folder that no other program works in, found one at work in " + quote(folder));
  }
}

bool OutputFolder::holds_run() const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_there(file(name)); });
}

void declare(CommandLine& line, FolderOptions& options, const std::string& usual_name, const std::string& resume) {
  line.group("Run");
  line.text("out", options.path, "folder of the run (default: " + usual_name + ")", "DIR");
  line.flag("resume", options.resume, resume);
  line.flag("force", options.force, "replace the run in the folder");
  for (const char* name : {"out", "resume", "force"}) line.not_recorded(name);
}

std::string OutputFolder::config_to_resume(const FolderOptions& options) const {
  if (!options.resume) return {};
  if (options.force) throw UsageError("resume: expected it or --force, found both");
  return holds_run() ? config() : std::string();
}

void OutputFolder::open(const FolderOptions& options, FolderLock& lock) const {
  if (holds_run() && !options.resume && !options.force) {
    throw UsageError("out: expected a folder without a run, found one in " + quote(path) +
                     "; --resume goes on with it, --force starts it anew");
  }
  make_folder(path);
  lock.take(path);
  for (const std::string& name : names) remove_file(file(name) + ".tmp");  // what a killed program was writing
  for (const std::string& name : names) require_writable(file(name));
  if (!options.force) return;
  for (const std::string& name : names) require_removable(file(name));
  for (const std::string& name : names) remove_file(file(name));
}

void require_unchanged(const CommandLine& line, CommandLine& recorded, const std::string& config,
                       const std::vector<std::string>& may_change) {
  const char* const nothing[] = {""};
  recorded.parse(1, nothing, [&] { return config; });
  for (const std::string& name : line.recorded()) {
    const std::string then = recorded.to_toml(name), now = line.to_toml(name);
    if (then == now || std::find(may_change.begin(), may_change.end(), name) != may_change.end()) continue;
    throw UsageError(name + ": expected " + (then.empty() ? "none" : then) + ", as " + quote(config) + " has, found " +
                     now);
  }
}

}  // namespace fcam::apps
