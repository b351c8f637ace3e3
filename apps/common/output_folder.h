// A folder of files with fixed names that a program leaves: config.toml and what it computes by it.
#pragma once

#include <string>
#include <vector>

#include "common/command_line.h"

namespace fcam::apps {

/// Whether there is something of that name.
bool is_there(const std::string& path);

/// Makes a folder and those above it, where they are not there. Throws WriteError.
void make_folder(const std::string& path);

/// Keeps other programs out of a folder while it lives; ends with the process, however that ends.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// Throws UsageError where another program has it; nothing where it is taken already.
  void take(const std::string& folder);

 private:
  int descriptor_ = -1;
};

/// What a program is told of its folder.
struct FolderOptions {
  std::string path;  ///< empty: a name made from other options
  bool resume = false, force = false;
};
/// Declares --out, --resume and --force, with the name of the folder where none is given and what --resume does.
void declare(CommandLine& line, FolderOptions& options, const std::string& usual_name, const std::string& resume);

struct OutputFolder {
  std::string path;
  std::vector<std::string> names;  ///< of the files

  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string config() const { return file("config.toml"); }
  /// Whether one of the files is there.
  bool holds_run() const;

  /// The file of options with which --resume goes on, empty without it, or where there is no run yet: then it starts
  /// one. Throws UsageError if both flags are given.
  std::string config_to_resume(const FolderOptions& options) const;
  /// Makes the folder and those above it, takes it, and makes sure that its files can be written; with --force
  /// removes those that are there, or none where one of them cannot be. Throws UsageError if there is a run and neither
  /// flag is given, WriteError.
  void open(const FolderOptions& options, FolderLock& lock) const;
};

/// Throws UsageError unless the recorded options are what the file `config` says, but for those that may change.
/// `recorded` has the same options declared, at their defaults.
void require_unchanged(const CommandLine& line, CommandLine& recorded, const std::string& config,
                       const std::vector<std::string>& may_change);

}  // namespace fcam::apps
