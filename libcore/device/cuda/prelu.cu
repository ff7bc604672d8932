// Rectifiers whose slope is learnt.

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

void CudaDevice::prelu(View y, View x, View slope) {
  const std::int64_t k = check_prelu(kReals, {y, x}, slope);
  const Reals to(y), from(x), slopes(slope);
  each(stream_, x.elements(), [=] DL_DEVICE(std::int64_t i) {
    const float value = from[i];
    to.set(i, value < 0 ? slopes[i % k] * value : value);
  });
}

void CudaDevice::prelu_gradient(View dx, View dslope, View dy, View x,
                                View slope) {
  const std::int64_t k = check_prelu(kReals, {dy, x}, slope);
  const Reals up(dy), from(x), slopes(slope);
  if (!dslope.empty()) {
    check_prelu(kReals, {dslope}, slope);
    const Reals to(dslope);
    sum_columns<double>(
        stream_, x.elements() / k, k,
        [=] DL_DEVICE(std::int64_t row, std::int64_t c) {
          const std::int64_t i = row * k + c;
          return from[i] > 0 ? 0.0 : double{up[i]} * from[i];
        },
        [=] DL_DEVICE(std::int64_t c, double sum) {
          to.set(c, static_cast<float>(sum));
        });
  }
  if (dx.empty()) return;
  check_prelu(kReals, {dx, x}, slope);
  const Reals to(dx);
  each(stream_, x.elements(), [=] DL_DEVICE(std::int64_t i) {
    to.set(i, from[i] > 0 ? up[i] : up[i] * slopes[i % k]);
  });
}

}  // namespace dl::device::cuda
