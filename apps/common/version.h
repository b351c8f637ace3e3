// What a program was built with and runs on.
#pragma once

#include <string>

namespace fcam::apps {

/// Version, compiler, xtensor, and the BLAS with its kernel, a line each.
std::string version_text(const std::string& program);

}  // namespace fcam::apps
