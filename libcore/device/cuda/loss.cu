// Losses of all examples, by their kinds.

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/number.h"
#include "libcore/device/cuda/loss_arrays.h"

namespace dl::device::cuda {
namespace {
using tensor::View;

LossArrays arrays_of(const View& number, const LossSpec& f, const View& grad,
                     const View& y, const View& target, const View& mask,
                     double scale) {
  const Rows rows = check_loss(kReals, f, grad, y, target, mask);
  const std::int64_t units = rows.length / numbers_each(f.kind);
  return {.kind = f.kind,
          .delta = f.delta,
          .gamma = f.gamma,
          .positive = f.positive,
          .negative = f.negative,
          .keep = 1 - f.smoothing,
          .floor = smoothing_floor(f, units),
          .scale = scale,
          .count = rows.count,
          .units = units,
          .y = Reals(y),
          .target = Reals(target),
          .weights = Reals(f.weights),
          .mask = Reals(mask),
          .grad = Reals(grad),
          .number = number.empty() ? nullptr : number_at(number)};
}

}  // namespace

void CudaDevice::loss(View number, const LossSpec& f, View grad, View y,
                      View target, View mask, double scale) {
  const LossArrays a = arrays_of(number, f, grad, y, target, mask, scale);
  require(!needs_logits(f.kind), "this loss takes logits alone");
  switch (f.kind) {
    case Loss::kCategoricalHinge:
    case Loss::kCosineProximity:
    case Loss::kMultiLabel:
      return add_row_losses(stream_, a);
    case Loss::kGaussian:
      return add_gaussian_losses(stream_, a);
    default:
      return add_output_losses(stream_, a);
  }
}

void CudaDevice::loss_with_logits(View number, const LossSpec& f, View grad,
                                  View z, View target, View mask,
                                  double scale) {
  const LossArrays a = arrays_of(number, f, grad, z, target, mask, scale);
  const auto inside = activation_inside(f.kind);
  require(inside.has_value(), "this loss takes no logits");
  if (*inside == Activation::kSoftmax) return add_softmax_losses(stream_, a);
  add_logit_losses(stream_, a);
}

}  // namespace dl::device::cuda
