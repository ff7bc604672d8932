// The primitive under everything that only moves numbers.

#ifndef DL_LIBCORE_DEVICE_API_STRIDED_H_
#define DL_LIBCORE_DEVICE_API_STRIDED_H_

#include <cstdint>

namespace dl::device {

// Pairs of an element of y and one of x: for all i_k in 0..extent[k]-1
//
//   y[y_offset + sum i_k y_stride[k]]  and  x[x_offset + sum i_k x_stride[k]],
//
// all counted in elements.  Strides may be negative (the offset is then that of
// the last element: reversal) and 0 on x (an element is given to many: repeat,
// nearest upsampling).  Where elements are added, they may be 0 on y too: sums
// over these extents, which is the gradient of a repetition.  Apart from that,
// no two pairs have the same element of y.
//
// Concatenation, parts, padding, cropping, permutation, repetition, upsampling,
// space to depth and stacking are each one of these an input; the gradient is
// exchanged(), where several inputs or repeats share an element with `add`.
struct Strided {
  static constexpr int kMaxRank = 8;

  int rank = 0;
  std::int64_t extent[kMaxRank] = {};  // 0: no pairs
  std::int64_t y_stride[kMaxRank] = {};
  std::int64_t x_stride[kMaxRank] = {};
  std::int64_t y_offset = 0, x_offset = 0;

  // Appends an extent; the last one that is appended runs fastest.
  // Throws Error: kBug, more than kMaxRank.
  Strided& over(std::int64_t n, std::int64_t y, std::int64_t x);
  Strided exchanged() const;  // y's side for x's
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_STRIDED_H_
