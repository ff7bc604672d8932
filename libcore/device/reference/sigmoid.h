// Functions that activations and losses of the reference device share.

#ifndef DL_LIBCORE_DEVICE_REFERENCE_SIGMOID_H_
#define DL_LIBCORE_DEVICE_REFERENCE_SIGMOID_H_

#include <algorithm>
#include <cmath>

namespace dl::device {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// log(1 + exp(x))
inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_REFERENCE_SIGMOID_H_
