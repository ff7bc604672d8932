#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

#if defined(__x86_64__)
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
bool has_avx512() { return false; }
bool has_avx2() { return false; }
#endif

const Kernels& widest() {
  return has_avx512() ? kAvx512Kernels
         : has_avx2() ? kAvx2Kernels
                      : kPortableKernels;
}

}  // namespace

const Kernels& best_kernels() {
  static const Kernels& chosen = widest();
  return chosen;
}

const Kernels& kernels_for(std::int64_t floats) {
  // Both fuse multiply and add, so their sums are the same.
  return floats <= kAvx2Kernels.lanes && has_avx512() ? kAvx2Kernels
                                                      : best_kernels();
}

}  // namespace dl::device
