// The files that a program is asked to write.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fcam::apps {

/// To be called before long work, with options and the paths they were given; empty paths are left out. Throws
/// UsageError where two of them are the same file, WriteError where one could not be written.
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace fcam::apps
