// The sparse form of delta.h, without its header.

#ifndef DL_LIBCORE_EXCHANGE_CODEC_SPARSE_DELTA_H_
#define DL_LIBCORE_EXCHANGE_CODEC_SPARSE_DELTA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/exchange/codec/delta_format.h"

namespace dl::exchange {

// Takes the largest out of x, which is finite.
void append_sparse_delta(std::span<float> x, const DeltaFormat& format,
                         std::vector<std::byte>& out);

// The elements of x that are not zero, as they are; x is finite.  -0 is zero.
void append_nonzero_delta(std::span<const float> x,
                          std::vector<std::byte>& out);
// Most bytes that this appends for so many of them.
std::size_t nonzero_delta_bytes(std::uint64_t nonzero, std::uint64_t elements);

// target += scale * what it says, after all checks.
// Throws Error: kProtocol.
void apply_sparse_delta(std::span<const std::byte> body, float scale,
                        std::span<float> target);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_CODEC_SPARSE_DELTA_H_
