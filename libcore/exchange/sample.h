// What magnitudes a vector has, from a few of its elements.

#ifndef DL_LIBCORE_EXCHANGE_SAMPLE_H_
#define DL_LIBCORE_EXCHANGE_SAMPLE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/base/philox.h"

namespace dl::exchange {

// |x + y| of about `size` elements (y may be empty); all of them if there are
// no more.  Taken in short runs, each from its own stretch of the vector.
void sample_magnitudes(std::span<const float> x, std::span<const float> y,
                       std::size_t size, Philox& random,
                       std::vector<float>& magnitudes);

// What the `rank` largest of them reach, rank from 1 to their number; reorders
// them.
float largest_reach(std::span<float> magnitudes, std::size_t rank);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_SAMPLE_H_
