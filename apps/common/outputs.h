// The files that a program is asked to write.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fcam::apps {

/// To be called before long work, with options and the paths they were given, and the files that are read; empty paths
/// are left out. Throws UsageError where two outputs are the same file or one is an input, WriteError where one could
/// not be written.
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs,
                   const std::vector<std::string>& inputs = {});

}  // namespace fcam::apps
