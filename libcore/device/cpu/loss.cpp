// Losses of all examples; those of one are in loss_rows.h.

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/loss_rows.h"
#include "libcore/device/host_memory.h"

namespace dl::device {
namespace {
using tensor::View;

// Sums f(example) over the examples that carry weight.
double sum_examples(const LossSpec& spec, const Rows& rows, const View& grad,
                    const View& y, const View& target, const View& mask,
                    double scale, LossRow f) {
  double sum = 0;
  const float* weights =
      spec.weights.empty() ? nullptr : spec.weights.as<float>();
  const std::int64_t units = rows.length / numbers_each(spec.kind);
  const double floor = smoothing_floor(spec, units);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double weight = mask.empty() ? 1 : mask.as<float>()[i];
    const std::int64_t at = i * rows.length;
    float* slopes = grad.empty() ? nullptr : grad.as<float>() + at;
    if (weight == 0) {
      if (slopes != nullptr) std::fill_n(slopes, rows.length, 0.0f);
      continue;
    }
    sum += weight * f({units, y.as<float>() + at,
                       target.as<float>() + i * units, weights, slopes,
                       scale * weight, 1 - spec.smoothing, floor, &spec});
  }
  return sum;
}

}  // namespace

void CpuDevice::loss(View number, const LossSpec& f, View grad, View y,
                     View target, View mask, double scale) {
  const Rows rows = check_loss(tensor::DType::kF32, f, grad, y, target, mask);
  const LossRow of_outputs = loss_of_outputs(f.kind);
  const double sum =
      sum_examples(f, rows, grad, y, target, mask, scale,
                   of_outputs ? of_outputs : loss_of_row(f.kind));
  if (!number.empty()) number_in(number) += scale * sum;
}

void CpuDevice::loss_with_logits(View number, const LossSpec& f, View grad,
                                 View z, View target, View mask, double scale) {
  const Rows rows = check_loss(tensor::DType::kF32, f, grad, z, target, mask);
  const double sum =
      sum_examples(f, rows, grad, z, target, mask, scale, loss_of_logits(f));
  if (!number.empty()) number_in(number) += scale * sum;
}

}  // namespace dl::device
