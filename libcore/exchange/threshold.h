// Threshold coding of updates (Strom, Interspeech 2015), without loss of mass.
//
// A Residual takes in a worker's updates; encode() takes out of it a message
// of quanta +-tau, and leaves the rest.  So, to the last bit on dyadic values,
//
//   sum of decoded messages + residual + clipped = sum of updates.
//
// Message: positions of the quanta as gaps in Golomb-Rice code, one sign bit
// each; where more than about a third of the elements would be sent, a dense
// code with three symbols.  Which one is decided by counting, before the
// residual is touched.  The layout is in dl-protocol(7).

#ifndef DL_LIBCORE_EXCHANGE_THRESHOLD_H_
#define DL_LIBCORE_EXCHANGE_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

// Number of elements with |x| >= threshold.  NaN counts as none.
std::int64_t count_over(std::span<const float> x, float threshold);

// Takes one quantum from each element with |r| >= threshold and appends the
// message to `out`.  Returns the number of quanta.  threshold > 0, finite.
std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out);

// target += scale * (the update in `message`).  Checks everything before it
// changes anything.
// Throws Error: kProtocol, the message is damaged, names an element outside
// target, is not in ascending order, or has a threshold that is not finite.
void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target);

// r clamped to +-limit; returns the sum of what was cut off (absolute).
double clip_residual(std::span<float> residual, float limit);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_THRESHOLD_H_
