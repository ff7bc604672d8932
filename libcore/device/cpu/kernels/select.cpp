#include <initializer_list>

#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

const Kernels& widest() {
  for (const Kernels* kernels : {&kAvx512Kernels, &kAvx2Kernels})
    if (can_run(*kernels)) return *kernels;
  return kPortableKernels;
}

}  // namespace

bool can_run(const Kernels& kernels) {
#if defined(__x86_64__)
  if (&kernels == &kAvx512Kernels)
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
  if (&kernels == &kAvx2Kernels)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return &kernels == &kPortableKernels;
}

const Kernels& best_kernels() {
  static const Kernels& chosen = widest();
  return chosen;
}

const Kernels& kernels_for(std::int64_t floats) {
  // Both fuse multiply and add, so their sums are the same.
  return floats <= kAvx2Kernels.lanes && can_run(kAvx512Kernels)
             ? kAvx2Kernels
             : best_kernels();
}

}  // namespace dl::device
