// Differences of parameters on the wire, for averaging.
//
//   f32     as they are; where it halves them, without the zeros (-0 is one
//           too), with positions as in sparse
//   f16     rounded to binary16
//   int8    127 steps to either side, of the largest of 1024 neighbors
//   sparse  the largest; positions as gaps in Golomb-Rice code, a sign, and a
//           magnitude: one for all (1 bit, the sign), one of 2, 8 or 128 levels
//           fitted to what was chosen (2, 4, 8 bits), or binary16
//
// What a lossy format leaves out goes into a residual, which is added to the
// next difference (error feedback: Seide et al. 2014; Sattler et al. 2018 for
// sparse ones).  The layout is in dl-protocol(7).
//
// The functions are pure: no state, any thread.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_DELTA_H_
#define DL_LIBCORE_EXCHANGE_CODEC_DELTA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/exchange/codec/delta_format.h"

namespace dl::exchange {

constexpr std::size_t kDeltaHeaderBytes = 12;
// Number of elements that share a scale.
constexpr std::size_t kInt8Block = 1024;

// Appends what `format` makes of delta + residual to `out`; residual becomes
// what was lost.  residual: of delta's size; empty if the format is not lossy.
// Throws Error: kProtocol, delta + residual is not finite; residual and out are
// then as they were.
void encode_delta(std::span<const float> delta, const DeltaFormat& format,
                  std::span<float> residual, std::vector<std::byte>& out);

// Appends after - before in f32 to `out`, without a vector for the difference.
// Throws Error: kProtocol, it is not finite; out is then as it was.
void encode_difference(std::span<const float> after,
                       std::span<const float> before,
                       std::vector<std::byte>& out);

// Whether the message has all elements as they are, each at its place; and
// these then, of binary32, unchecked.
bool is_plain_delta(std::span<const std::byte> message);
std::span<const std::byte> plain_floats(std::span<const std::byte> message);
// Checks a plain one.  Throws as decode_delta() for so many elements.
void check_plain_delta(std::span<const std::byte> message,
                       std::size_t elements);

// target = what the message says.  Throws as decode_delta(); target is then of
// no use.
void read_delta(std::span<const std::byte> message, std::span<float> target);

// target += scale * what the message says.  Checks everything before it changes
// anything.
// Throws Error: kProtocol, the message is damaged, is for another number of
// elements, or holds what is not finite.
void decode_delta(std::span<const std::byte> message, float scale,
                  std::span<float> target);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_DELTA_H_
