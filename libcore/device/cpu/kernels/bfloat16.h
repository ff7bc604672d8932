// bfloat16, the upper half of a float, in pairs: a word has a number of one
// vector in its lower half and that of the next vector in its upper half, so
// that a shift and a mask make floats of them.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_BFLOAT16_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_BFLOAT16_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

DL_ALWAYS Vec first_of_pairs(Words pairs) {
  return reinterpret_cast<Vec>(pairs << 16);
}
DL_ALWAYS Vec second_of_pairs(Words pairs) {
  return reinterpret_cast<Vec>(pairs & 0xffff0000u);
}

// In the upper halves; to nearest, ties to even.  NaN stays NaN.
DL_ALWAYS Words rounded(Vec v) {
  const Words bits = reinterpret_cast<Words>(v);
  const Words nearest = bits + 0x7fffu + ((bits >> 16) & 1u);
  return (v == v ? nearest : bits | 0x400000u) & 0xffff0000u;
}

void to_pairs(std::uint32_t* to, const float* from, int vectors,
              std::int64_t depth) {
  for (std::int64_t k = 0; k < depth; ++k) {
    Words pairs = rounded(load(from)) >> 16;
    if (vectors == 2) pairs |= rounded(load(from + kLanes));
    store(to, pairs);
    to += kLanes;
    from += vectors * kLanes;
  }
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_BFLOAT16_H_
