// Floats as bfloat16, the upper half of a float, for what tensor cores
// multiply.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_CAST_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_CAST_H_

#include <cstdint>

#include "libcore/device/cuda/kernel/bfloat16.h"

namespace dl::device::cuda {

// Room for n numbers, so that others may follow aligned.
inline std::int64_t cast_elements(std::int64_t n) { return (n + 7) / 8 * 8; }

// `count` matrices, `step` floats apart, whose rows are `row` floats apart.
struct Matrices {
  std::int64_t count, rows, columns, row, step;

  // Rows of bfloat16 begin at multiples of 16 bytes, which is fastest.
  std::int64_t cast_row() const { return cast_elements(columns); }
  std::int64_t all() const { return count * rows * cast_row(); }
};

// to: m.all(), from a multiple of 4 bytes on; row by row, matrix by
// matrix, filled up with zeros.
void cast(Stream& stream, Bfloat16* to, const float* from, const Matrices& m);

// n numbers side by side, to cast_elements(n).
inline void cast(Stream& stream, Bfloat16* to, const float* from,
                 std::int64_t n) {
  cast(stream, to, from, {1, 1, n, n, 0});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_CAST_H_
