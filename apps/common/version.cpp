#include "common/version.h"

#include "fcam/base/blas.h"
#include "fcam/base/tensor.h"
#include "fcam/nn/conv_kernels.h"

namespace fcam::apps {

std::string version_text(const std::string& program) {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  const ConvKernels* const kernels = conv_kernels();
  const std::string convolution = kernels != nullptr ? kernels->isa : "general";
  return program + " " FCAM_VERSION "\ncompiler: " + compiler + "\nxtensor: " + xtensor_version() +
         "\nBLAS: " + blas_description() + "\nconvolution kernels: " + convolution + "\n";
}

}  // namespace fcam::apps
