// Rectifiers whose slope is learnt (He et al. 2015).

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;

void ReferenceDevice::prelu(View y, View x, View slope) {
  const std::int64_t k = check_prelu(DType::kF64, {y, x}, slope);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const double value = x.as<double>()[i];
    y.as<double>()[i] = value < 0 ? slope.as<double>()[i % k] * value : value;
  }
}

void ReferenceDevice::prelu_gradient(View dx, View dslope, View dy, View x,
                                     View slope) {
  const std::int64_t k = check_prelu(DType::kF64, {dy, x}, slope);
  if (!dslope.empty()) {
    check_prelu(DType::kF64, {dslope}, slope);
    std::fill_n(dslope.as<double>(), k, 0.0);
    for (std::int64_t i = 0; i < x.elements(); ++i)
      if (!(x.as<double>()[i] > 0))
        dslope.as<double>()[i % k] += dy.as<double>()[i] * x.as<double>()[i];
  }
  if (dx.empty()) return;
  check_prelu(DType::kF64, {dx, x}, slope);
  for (std::int64_t i = 0; i < x.elements(); ++i)
    dx.as<double>()[i] =
        dy.as<double>()[i] *
        (x.as<double>()[i] > 0 ? 1 : slope.as<double>()[i % k]);
}

}  // namespace dl::device
