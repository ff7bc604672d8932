// What magnitudes a vector has, from a few of its elements.

#ifndef DL_LIBCORE_EXCHANGE_SAMPLE_H_
#define DL_LIBCORE_EXCHANGE_SAMPLE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/base/philox.h"

namespace dl::exchange {

// Looks at about `size` elements of |x + y| (y may be empty), at all of them if
// there are no more, and keeps those that are at least `floor` and no NaN.
// Returns how many it has looked at.  They are taken in short runs, each from
// its own stretch of the vector.
std::size_t sample_magnitudes(std::span<const float> x,
                              std::span<const float> y, std::size_t size,
                              float floor, Philox& random,
                              std::vector<float>& magnitudes);

// What the `rank` largest of them reach, rank from 1 to their number; reorders
// them.
float largest_reach(std::span<float> magnitudes, std::size_t rank);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_SAMPLE_H_
