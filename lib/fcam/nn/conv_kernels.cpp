#include "fcam/nn/conv_kernels.h"

#include <cstdlib>

#include "fcam/base/error.h"

namespace fcam {

#if defined(__x86_64__)
extern const ConvKernels conv_kernels_v2, conv_kernels_v3, conv_kernels_v4;
#else
extern const ConvKernels conv_kernels_portable;
#endif

namespace {

constexpr const char* general = "general";

// All that this processor can run, the best last.
std::vector<const ConvKernels*> runnable() {
#if defined(__x86_64__)
  std::vector<const ConvKernels*> result;
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")) {
    result.push_back(&conv_kernels_v2);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    result.push_back(&conv_kernels_v3);
  }
  if (!result.empty() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    result.push_back(&conv_kernels_v4);
  }
  return result;
#else
  return {&conv_kernels_portable};
#endif
}

const ConvKernels* choose() {
  const char* forced = std::getenv("FCAM_ISA");
  return conv_kernels(forced != nullptr && *forced != '\0' ? forced : conv_isas().back());
}

}  // namespace

const ConvKernels* conv_kernels() {
  static const ConvKernels* const chosen = choose();
  return chosen;
}

const ConvKernels* conv_kernels(const std::string& isa) {
  if (isa == general) return nullptr;
  for (const ConvKernels* kernels : runnable()) {
    if (isa == kernels->isa) return kernels;
  }
  throw UsageError("instruction set (FCAM_ISA): " + unknown_name(isa, conv_isas()));
}

std::vector<std::string> conv_isas() {
  std::vector<std::string> names{general};
  for (const ConvKernels* kernels : runnable()) names.emplace_back(kernels->isa);
  return names;
}

}  // namespace fcam
