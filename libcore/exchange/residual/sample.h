// The magnitudes of a vector, estimated from a few of its elements.

#ifndef DL_LIBCORE_EXCHANGE_RESIDUAL_SAMPLE_H_
#define DL_LIBCORE_EXCHANGE_RESIDUAL_SAMPLE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/base/philox.h"

namespace dl::exchange {

// Number of elements, of one cache line or two.
constexpr std::size_t kSampleRun = 8;

// Calls look(begin, end) for the elements of n that are in a sample of about
// `size`, all of them if there are no more; returns how many.  They are taken
// in short runs, each from its own stretch of the vector.
template <typename Look>
std::size_t sample_runs(std::size_t n, std::size_t size, Philox& random,
                        const Look& look) {
  if (n <= size) {
    look(std::size_t{0}, n);
    return n;
  }
  const std::size_t runs = size / kSampleRun, stretch = n / runs;
  for (std::size_t r = 0; r < runs; ++r) {
    const std::size_t at = r * stretch + random.below(stretch - kSampleRun + 1);
    look(at, at + kSampleRun);
  }
  return runs * kSampleRun;
}

// Looks at such a sample of |x + y| (y may be empty), and keeps what is at
// least `floor` and no NaN.  Returns how many it has looked at.
std::size_t sample_magnitudes(std::span<const float> x,
                              std::span<const float> y, std::size_t size,
                              float floor, Philox& random,
                              std::vector<float>& magnitudes);

// The value that the `rank` largest magnitudes reach, rank from 1 to their
// number; reorders them.
float largest_reach(std::span<float> magnitudes, std::size_t rank);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_RESIDUAL_SAMPLE_H_
