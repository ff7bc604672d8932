// Kernels that convert floats to bfloat16.

#include "libcore/device/cuda/kernel/cast.h"
#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {
namespace {

// A thread writes a word: two numbers of a row.
struct CastPair {
  const float* from;
  std::uint32_t* to;
  std::int64_t words;  // of a row
  Matrices m;

  DL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t line = quotient(i, words);
    const std::int64_t column = 2 * (i - line * words);
    const std::int64_t matrix = quotient(line, m.rows);
    const float* const pair =
        from + matrix * m.step + (line - matrix * m.rows) * m.row + column;
    const std::uint32_t low = column < m.columns ? upper_half(pair[0]) : 0;
    const std::uint32_t high = column + 1 < m.columns ? upper_half(pair[1]) : 0;
    to[i] = low | high << 16;
  }
};

}  // namespace

void cast(Stream& stream, Bfloat16* to, const float* from, const Matrices& m) {
  each(stream, m.all() / 2,
       CastPair{from, reinterpret_cast<std::uint32_t*>(to), m.cast_row() / 2,
                m});
}

}  // namespace dl::device::cuda
