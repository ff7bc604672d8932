// Threshold coding of updates (Strom, Interspeech 2015), without loss of mass.
//
// A worker adds its updates to a residual; encode_threshold() takes out of it a
// message of quanta +-threshold and leaves the rest.  So, to the last bit on
// dyadic values,
//
//   sum of decoded messages + residual + clipped = sum of updates.
//
// Message: positions of the quanta as gaps in Golomb-Rice code, one sign bit
// each; where more than three fifths of the elements would be sent, a dense
// code of five three-valued symbols a byte.  Which one is decided by counting,
// before the residual is touched.  The layout is in dl-protocol(7).
//
// The functions are pure: no state, any thread.

#ifndef DL_LIBCORE_EXCHANGE_THRESHOLD_H_
#define DL_LIBCORE_EXCHANGE_THRESHOLD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::exchange {

constexpr std::size_t kThresholdHeaderBytes = 24;

// Number of elements with |x| >= threshold.  NaN counts as none.
std::int64_t count_over(std::span<const float> x, float threshold);

// Takes one quantum from each element with |r| >= threshold and appends the
// message to `out`.  Returns the number of quanta; 0 appends a message too.
// threshold > 0, finite (else Error kBug).  An infinite element stays infinite:
// keep such out of the residual.
std::int64_t encode_threshold(std::span<float> residual, float threshold,
                              std::vector<std::byte>& out);

// What a message says of itself.
struct ThresholdInfo {
  std::uint64_t elements = 0;
  std::uint64_t quanta = 0;
  float threshold = 0;
  bool dense = false;
};
// Checks the whole message; throws Error as decode_threshold() does.
ThresholdInfo inspect_threshold(std::span<const std::byte> message);

// target += scale * (the update in `message`).  Checks everything before it
// changes anything.
// Throws Error: kProtocol, the message is damaged, is for another number of
// elements, or has a threshold that is not finite and positive.
void decode_threshold(std::span<const std::byte> message, float scale,
                      std::span<float> target);

// residual += update, of equal sizes.
void accumulate(std::span<float> residual, std::span<const float> update);

// r clamped to +-limit; returns the sum of what was cut off (absolute).
// limit >= 0.
double clip_residual(std::span<float> residual, float limit);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_THRESHOLD_H_
