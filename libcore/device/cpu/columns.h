// Sums over the rows of a matrix, one for each column, without memory of their
// own: the columns are taken in strips whose sums fit the stack.

#ifndef DL_LIBCORE_DEVICE_CPU_COLUMNS_H_
#define DL_LIBCORE_DEVICE_CPU_COLUMNS_H_

#include <algorithm>
#include <cstdint>

#include "libcore/device/cpu/simd.h"

namespace dl::device {

constexpr std::int64_t kStrip = 128;       // columns
constexpr std::int64_t kRowsInFloat = 32;  // then the sum moves on in double

template <int kSums>
struct Terms {
  float of[kSums];
};

// kSums sums at once: term(at, c) gives what element `at` in column c adds,
// store(c, sums) takes the result.
template <int kSums, typename Term, typename Store>
DL_INLINE void for_each_column_sum(std::int64_t rows, std::int64_t length,
                                   Term term, Store store) {
  for (std::int64_t first = 0; first < length; first += kStrip) {
    const std::int64_t width = std::min(kStrip, length - first);
    double total[kSums][kStrip] = {};
    for (std::int64_t begin = 0; begin < rows; begin += kRowsInFloat) {
      const std::int64_t end = std::min(begin + kRowsInFloat, rows);
      float part[kSums][kStrip] = {};
      for (std::int64_t r = begin; r < end; ++r) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < width; ++c) {
          const Terms<kSums> terms = term(r * length + first + c, first + c);
          for (int k = 0; k < kSums; ++k) part[k][c] += terms.of[k];
        }
      }
      for (int k = 0; k < kSums; ++k) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < width; ++c) total[k][c] += part[k][c];
      }
    }
    for (std::int64_t c = 0; c < width; ++c) {
      double sums[kSums];
      for (int k = 0; k < kSums; ++k) sums[k] = total[k][c];
      store(first + c, sums);
    }
  }
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_COLUMNS_H_
