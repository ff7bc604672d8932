// Local response normalization (Krizhevsky et al. 2012).

#ifndef DL_LIBCORE_DEVICE_API_LOCAL_NORM_H_
#define DL_LIBCORE_DEVICE_API_LOCAL_NORM_H_

#include <cstdint>

namespace dl::device {

// Over the last dimension, the sum taken of the `window` channels around c that
// there are:
//
//   y[.., c] = x[.., c] / d_c^beta      d_c = k + alpha * sum of x^2
struct LocalNorm {
  static constexpr std::int64_t kMostWindow = 129;
  std::int64_t window = 5;                  // odd, up to kMostWindow
  double k = 2, alpha = 1e-4, beta = 0.75;  // k > 0, others >= 0
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_LOCAL_NORM_H_
