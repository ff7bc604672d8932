// bfloat16, the upper half of a float: its exponents, and 8 of its 24 bits.
//
// Gradients of losses that are not scaled up keep their digits: only float32's
// own smallest numbers are 0.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_BFLOAT16_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_BFLOAT16_H_

#include <bit>
#include <cstdint>

#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

struct Bfloat16 {
  std::uint16_t bits;
};

// To nearest, of two the even one; NaN stays NaN, and what is too large is
// infinite.
DL_BOTH inline std::uint32_t upper_half(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return bits >> 16 | 0x40U;
  return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
#endif
}

DL_BOTH inline float float_of(Bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_BFLOAT16_H_
