// Losses as kernels take them.  1 - 1e-10 is no float32: so they are computed
// in float64.

#ifndef DL_LIBCORE_DEVICE_CUDA_LOSS_ARRAYS_H_
#define DL_LIBCORE_DEVICE_CUDA_LOSS_ARRAYS_H_

#include <cstdint>

#include "libcore/device/api/loss.h"
#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

struct LossArrays {
  Loss kind;
  double delta, gamma, positive, negative;
  double keep, floor;         // of label smoothing
  double scale;               // of the number, and of the gradient
  std::int64_t count, units;  // examples, and the targets of each
  Reals y, target;            // outputs or logits
  Reals weights, mask;        // of targets and of examples; or empty
  Reals grad;                 // or empty
  double* number;             // or null

  DL_DEVICE double t(std::int64_t i) const { return keep * target[i] + floor; }
  DL_DEVICE double weight(std::int64_t j) const {
    return weights.empty() ? 1.0 : weights[j];
  }
  DL_DEVICE double counts(std::int64_t example) const {
    return mask.empty() ? 1.0 : mask[example];
  }
};

// Losses that are sums over outputs, and those of logits that are.
void add_output_losses(Stream& stream, const LossArrays& a);
void add_logit_losses(Stream& stream, const LossArrays& a);
void add_gaussian_losses(Stream& stream, const LossArrays& a);
// Adds losses that look at all outputs, or logits, of an example at once.
void add_row_losses(Stream& stream, const LossArrays& a);
void add_softmax_losses(Stream& stream, const LossArrays& a);

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_LOSS_ARRAYS_H_
