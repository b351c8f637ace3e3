// A folder of files with fixed names that a program leaves: config.toml and what it computes by it.
#pragma once

#include <string>
#include <vector>

#include "common/command_line.h"

namespace fcam::apps {

/// Whether there is something of that name.
bool is_there(const std::string& path);

/// Throws WriteError.
void remove_file(const std::string& path);

struct OutputFolder {
  std::string path;
  std::vector<std::string> names;  ///< of the files

  std::string file(const std::string& name) const { return path + "/" + name; }
  std::string config() const { return file("config.toml"); }
  /// Whether one of the files is there.
  bool holds_run() const;

  /// The file of options with which --resume goes on, empty without it. Throws UsageError if there is no run in the
  /// folder, or both flags are given.
  std::string config_to_resume(bool resume, bool force) const;
  /// Makes the folder and those above it, and removes what an interrupted write may have left; with `force` the files,
  /// too. Throws UsageError if there is a run and neither flag is given, WriteError.
  void open(bool resume, bool force) const;
};

/// Throws UsageError unless the recorded options are what the file `config` says, but for those that may change.
/// `recorded` has the same options declared, at their defaults.
void require_unchanged(const CommandLine& line, CommandLine& recorded, const std::string& config,
                       const std::vector<std::string>& may_change);

}  // namespace fcam::apps
