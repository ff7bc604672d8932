// Elementwise arithmetic.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/grid.h"

namespace dl::device::cuda {

using tensor::DType;

void CudaDevice::fill(View y, double value) {
  if (y.dtype == DType::kF64) {  // numbers
    double* const to = y.as<double>();
    each(stream_, y.elements(),
         [=] DL_DEVICE(std::int64_t i) { to[i] = value; });
    return;
  }
  check_reals(DType::kF32, {y});
  float* const to = y.as<float>();
  const auto same = static_cast<float>(value);
  each(stream_, y.elements(), [=] DL_DEVICE(std::int64_t i) { to[i] = same; });
}

void CudaDevice::copy(View y, View x) {
  check_reals(DType::kF32, {y, x});
  check_equal_elements(y, x);
  stream_.copy(y.data, x.data,
               static_cast<std::size_t>(y.elements()) * sizeof(float),
               cudaMemcpyDeviceToDevice);
}

void CudaDevice::scale(View y, double a) {
  check_reals(DType::kF32, {y});
  float* const to = y.as<float>();
  const auto factor = static_cast<float>(a);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] *= factor; });
}

void CudaDevice::add(View y, double a, View x) {
  check_reals(DType::kF32, {y, x});
  check_equal_elements(y, x);
  float* const to = y.as<float>();
  const float* const from = x.as<float>();
  const auto factor = static_cast<float>(a);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] += factor * from[i]; });
}

void CudaDevice::multiply(View y, View a, View b) {
  check_reals(DType::kF32, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  float* const to = y.as<float>();
  const float *const left = a.as<float>(), *const right = b.as<float>();
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] = left[i] * right[i]; });
}

void CudaDevice::divide(View y, View a, View b) {
  check_reals(DType::kF32, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  float* const to = y.as<float>();
  const float *const left = a.as<float>(), *const right = b.as<float>();
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] = left[i] / right[i]; });
}

void CudaDevice::square_root(View y, View x, double shift) {
  check_reals(DType::kF32, {y, x});
  check_equal_elements(y, x);
  float* const to = y.as<float>();
  const float* const from = x.as<float>();
  const auto more = static_cast<float>(shift);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] = std::sqrt(from[i] + more); });
}

void CudaDevice::reciprocal(View y, View x, double shift) {
  check_reals(DType::kF32, {y, x});
  check_equal_elements(y, x);
  float* const to = y.as<float>();
  const float* const from = x.as<float>();
  const auto more = static_cast<float>(shift);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] = 1 / (from[i] + more); });
}

}  // namespace dl::device::cuda
