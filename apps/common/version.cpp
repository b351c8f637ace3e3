#include "common/version.h"

#include "fcam/base/blas.h"
#include "fcam/base/tensor.h"

namespace fcam::apps {

std::string version_text(const std::string& program) {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return program + " " FCAM_VERSION "\ncompiler: " + compiler + "\nxtensor: " + xtensor_version() +
         "\nBLAS: " + blas_description() + "\n";
}

}  // namespace fcam::apps
