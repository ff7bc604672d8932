// Rectifiers whose slope is learnt.

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/grid.h"
#include "libcore/device/cuda/reduce.h"

namespace dl::device::cuda {

using tensor::DType;

void CudaDevice::prelu(View y, View x, View slope) {
  const std::int64_t k = check_prelu(DType::kF32, {y, x}, slope);
  float* const to = y.as<float>();
  const float *const from = x.as<float>(), *const slopes = slope.as<float>();
  each(stream_, x.elements(), [=] DL_DEVICE(std::int64_t i) {
    const float value = from[i];
    to[i] = value < 0 ? slopes[i % k] * value : value;
  });
}

void CudaDevice::prelu_gradient(View dx, View dslope, View dy, View x,
                                View slope) {
  const std::int64_t k = check_prelu(DType::kF32, {dy, x}, slope);
  const float *const up = dy.as<float>(), *const from = x.as<float>();
  if (!dslope.empty()) {
    check_prelu(DType::kF32, {dslope}, slope);
    float* const to = dslope.as<float>();
    sum_columns<double>(
        stream_, x.elements() / k, k,
        [=] DL_DEVICE(std::int64_t row, std::int64_t c) {
          const std::int64_t i = row * k + c;
          return from[i] > 0 ? 0.0 : double{up[i]} * from[i];
        },
        [=] DL_DEVICE(std::int64_t c, double sum) {
          to[c] = static_cast<float>(sum);
        });
  }
  if (dx.empty()) return;
  check_prelu(DType::kF32, {dx, x}, slope);
  float* const to = dx.as<float>();
  const float* const slopes = slope.as<float>();
  each(stream_, x.elements(), [=] DL_DEVICE(std::int64_t i) {
    to[i] = from[i] > 0 ? up[i] : up[i] * slopes[i % k];
  });
}

}  // namespace dl::device::cuda
