// Blurring by a curve that is the same for rows and columns.

#ifndef DL_LIBCORE_NN_AUGMENT_BLUR_H_
#define DL_LIBCORE_NN_AUGMENT_BLUR_H_

#include <array>
#include <cstdint>
#include <span>

#include "libcore/nn/augment/sample.h"

namespace dl::nn::augment {

// Weights of an odd number of pixels, in 1/256; they sum up to 256.
struct Curve {
  std::int64_t size = 1;
  std::array<std::int32_t, 255> weights{};
};
Curve bell(std::int64_t size, double sigma);

// The picture is mirrored beyond its edge, which is half a curve wide at least.
void blur(Canvas& canvas, const Curve& curve, Room& room);

}  // namespace dl::nn::augment

#endif  // DL_LIBCORE_NN_AUGMENT_BLUR_H_
