// The sparse form of delta.h, without its header.

#ifndef DL_LIBCORE_EXCHANGE_SPARSE_DELTA_H_
#define DL_LIBCORE_EXCHANGE_SPARSE_DELTA_H_

#include <cstddef>
#include <span>
#include <vector>

#include "libcore/exchange/delta_format.h"

namespace dl::exchange {

// Takes the largest out of x, which is finite.
void append_sparse_delta(std::span<float> x, const DeltaFormat& format,
                         std::vector<std::byte>& out);

// target += scale * what it says, after all checks.
// Throws Error: kProtocol.
void apply_sparse_delta(std::span<const std::byte> body, float scale,
                        std::span<float> target);

}  // namespace dl::exchange

#endif  // DL_LIBCORE_EXCHANGE_SPARSE_DELTA_H_
