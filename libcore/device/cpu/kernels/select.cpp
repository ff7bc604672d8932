// Choice of the kernels for this processor.

#include <cstdlib>
#include <string>

#include "libcore/base/error.h"
#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

Kernels with_blas(Kernels kernels) {
  kernels.name = "openblas";
  kernels.blas = true;
  return kernels;
}

// The best first.
constexpr const Kernels* kAll[] = {&kAvx512Kernels, &kAvx2Kernels,
                                   &kOpenBlasKernels, &kPortableKernels};

// Whether OpenBLAS is faster than the portable kernels: not on x86 that has but
// SSE, where both compute four floats at a time.
bool blas_is_faster() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx");
#else
  return true;
#endif
}

const Kernels& choose() {
  const char* variable = std::getenv("DL_CPU_KERNELS");
  const std::string wanted = variable ? variable : "";
  std::string names;
  for (const Kernels* kernels : kAll) {
    if (!can_run(*kernels)) continue;
    const bool chosen = wanted.empty() ? !kernels->blas || blas_is_faster()
                                       : wanted == kernels->name;
    if (chosen) return *kernels;
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  throw Error{Code::kConfig, "DL_CPU_KERNELS is '" + wanted +
                                 "', this processor can run " + names};
}

}  // namespace

const Kernels kOpenBlasKernels = with_blas(kPortableKernels);

bool can_run(const Kernels& kernels) {
#if defined(__x86_64__)
  if (&kernels == &kAvx512Kernels)
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
  if (&kernels == &kAvx2Kernels)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return &kernels == &kPortableKernels || &kernels == &kOpenBlasKernels;
}

const Kernels& best_kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

const Kernels& kernels_for(std::int64_t floats) {
  // Both fuse multiply and add, so their sums are the same.
  const Kernels& best = best_kernels();
  return floats <= kAvx2Kernels.lanes && &best == &kAvx512Kernels ? kAvx2Kernels
                                                                  : best;
}

}  // namespace dl::device
