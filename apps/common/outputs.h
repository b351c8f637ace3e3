// The files that a program is asked to write.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace fcam::apps {

/// Whether two paths lead to the same file, that is or is to be. Devices and pipes, which take from many, are none.
bool same_file(const std::string& a, const std::string& b);

/// To be called before long work, with options and the paths they were given, and the files that are read; empty paths
/// are left out. Throws UsageError where two outputs are the same file or one is an input, WriteError where one could
/// not be written.
void check_outputs(const std::vector<std::pair<std::string, std::string>>& outputs,
                   const std::vector<std::string>& inputs = {});

}  // namespace fcam::apps
