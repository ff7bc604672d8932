// Bit streams and Golomb-Rice codes.

#include "libcore/exchange/codec/bits.h"

#include <cmath>

namespace dl::exchange {

unsigned best_rice(std::uint64_t chosen, std::uint64_t elements) {
  // Gaps are geometrically distributed: a quotient in unary, k bits of rest.
  const double log_zero =
      std::log1p(-static_cast<double>(chosen) / static_cast<double>(elements));
  // Costs fall with k, then rise.
  double least = INFINITY;
  for (unsigned k = 0; k <= kMaxRice; ++k) {
    const double zeros = std::exp(std::ldexp(log_zero, static_cast<int>(k)));
    const double bits = k + zeros / (1 - zeros);
    if (bits >= least) return k - 1;
    least = bits;
  }
  return kMaxRice;
}

}  // namespace dl::exchange
