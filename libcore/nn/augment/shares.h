// Shares of neighboring pixels in a mean of them, as whole numbers.

#ifndef DL_LIBCORE_NN_AUGMENT_SHARES_H_
#define DL_LIBCORE_NN_AUGMENT_SHARES_H_

#include <cstdint>

namespace dl::nn::augment {

// Shares, and places of pixels, are counted in 1/2048.
constexpr int kBits = 11;
constexpr std::int32_t kOne = 1 << kBits;
// A mean of four is one of two means of two.  The first step drops so many
// bits, which leaves 15, and the last one the others.
constexpr int kDropped = 4;
constexpr int kLast = 2 * kBits - kDropped;

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_SHARES_H_
