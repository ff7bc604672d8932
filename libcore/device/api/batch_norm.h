// Batch normalization over all but the last dimension.

#ifndef DL_LIBCORE_DEVICE_API_BATCH_NORM_H_
#define DL_LIBCORE_DEVICE_API_BATCH_NORM_H_

#include "libcore/device/api/values.h"

namespace dl::device {

//   xhat = (x - mean[c]) / sqrt(variance[c] + epsilon)
//   y = gamma[c] xhat + beta[c], or with relu the larger of that and 0
//
// Device::batch_norm() adds what is `added` [as x], before relu; the gradients
// know nothing of it.  Those, where with relu dy counts as 0 unless y > 0:
//
//   dgamma[c] = sum of dy xhat      dbeta[c] = sum of dy
//   dx = gamma[c] / sqrt(variance[c] + epsilon)
//        * (dy - sum_dy[c] / count - xhat sum_dy_xhat[c] / count)
struct BatchNorm {
  View mean, variance, gamma, beta;  // [c]
  double epsilon = 1e-5;
  bool relu = false;
  View added = {};  // or empty
};

// Device::batch_statistics(), in one pass; false: nothing is done, that gains
// nothing there.  For all rows of x [..., c]: mean and variance (of the
// population); and the running ones, which move: running = decay running + (1 -
// decay) those.  All [c]; running ones may be empty.
struct BatchStatistics {
  View mean, variance, running_mean, running_variance;
  double decay = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_BATCH_NORM_H_
