// The precision of products where speed counts more than digits.

#ifndef DL_LIBCORE_DEVICE_API_PRECISION_H_
#define DL_LIBCORE_DEVICE_API_PRECISION_H_

namespace dl::device {

// Precision of the factors of products in dense, convolutional, attention and
// recurrent layers; on GPUs, bfloat16 is also what goes from layer to layer and
// back. Sums, weights that are trained, their gradients, updaters' state, what
// a network is asked for and its loss stay the device's reals.
enum class Precision {
  kFloat32,
  kTf32,      // float32 with 11 of its 24 bits
  kBfloat16,  // the range of float32, with 8 of its 24 bits
};

// Precisions that a device has besides float32.
struct Precisions {
  bool tf32 = false, bfloat16 = false;
  constexpr bool has(Precision p) const {
    return p == Precision::kFloat32 || (p == Precision::kTf32 && tf32) ||
           (p == Precision::kBfloat16 && bfloat16);
  }
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_PRECISION_H_
