// What a program was built with and runs on.
#pragma once

#include <string>

namespace fcam::apps {

/// Version, compiler, xtensor, the BLAS with its kernel, and the instruction set of the convolutions, a line each.
std::string version_text(const std::string& program);

}  // namespace fcam::apps
