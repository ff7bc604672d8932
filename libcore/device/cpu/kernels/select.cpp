#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device {
namespace {

const Kernels& widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return kAvx512Kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return kAvx2Kernels;
#endif
  return kPortableKernels;
}

}  // namespace

const Kernels& best_kernels() {
  static const Kernels& chosen = widest();
  return chosen;
}

}  // namespace dl::device
