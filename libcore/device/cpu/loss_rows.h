// The loss of one example.  Outputs are few, and 1 - 1e-10 is no float32: so
// losses are computed in float64, a row at a time.

#ifndef DL_LIBCORE_DEVICE_CPU_LOSS_ROWS_H_
#define DL_LIBCORE_DEVICE_CPU_LOSS_ROWS_H_

#include <cstdint>

#include "libcore/device/api/loss.h"

namespace dl::device {

// One example: its outputs (or logits), targets, what they count (or null),
// where its gradient goes (or null), and the factor of that gradient.
struct Example {
  std::int64_t units;  // targets
  const float* y;
  const float* target;
  const float* weights;
  float* grad;
  double factor;
  double keep, floor;  // of label smoothing
  const LossSpec* spec;

  double t(std::int64_t j) const { return keep * target[j] + floor; }
  double weight(std::int64_t j) const {
    return weights == nullptr ? 1.0 : weights[j];
  }
  // Takes the derivative of the loss by output j.
  void slope(std::int64_t j, double value) const {
    if (grad != nullptr) grad[j] = static_cast<float>(factor * value);
  }
};

using LossRow = double (*)(const Example&);

// Row function of losses that are sums over outputs, each of its own term: null
// for others.
LossRow loss_of_outputs(Loss kind);
// Row function of losses that look at all outputs at once.
LossRow loss_of_row(Loss kind);
// With the activation inside.
LossRow loss_of_logits(const LossSpec& f);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_LOSS_ROWS_H_
