// Elementwise arithmetic.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void scale(float* y, float a, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] *= a;
}

DL_VECTOR void add(float* y, float a, const float* x, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

DL_VECTOR void multiply(float* y, const float* a, const float* b,
                        std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

DL_VECTOR void divide(float* y, const float* a, const float* b,
                      std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] / b[i];
}

DL_VECTOR void square_root(float* y, const float* x, float shift,
                           std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = std::sqrt(x[i] + shift);
}

DL_VECTOR void reciprocal(float* y, const float* x, float shift,
                          std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = 1.0f / (x[i] + shift);
}

}  // namespace kernels

void CpuDevice::fill(View y, double value) {
  if (y.dtype == tensor::DType::kF64) {
    std::fill_n(y.as<double>(), y.elements(), value);
    return;
  }
  check_reals(tensor::DType::kF32, {y});
  std::fill_n(y.as<float>(), y.elements(), static_cast<float>(value));
}

void CpuDevice::copy(View y, View x) {
  check_reals(tensor::DType::kF32, {y, x});
  check_equal_elements(y, x);
  std::copy_n(x.as<float>(), x.elements(), y.as<float>());
}

void CpuDevice::scale(View y, double a) {
  check_reals(tensor::DType::kF32, {y});
  kernels::scale(y.as<float>(), static_cast<float>(a), y.elements());
}

void CpuDevice::add(View y, double a, View x) {
  check_reals(tensor::DType::kF32, {y, x});
  check_equal_elements(y, x);
  kernels::add(y.as<float>(), static_cast<float>(a), x.as<float>(),
               y.elements());
}

void CpuDevice::multiply(View y, View a, View b) {
  check_reals(tensor::DType::kF32, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  kernels::multiply(y.as<float>(), a.as<float>(), b.as<float>(), y.elements());
}

void CpuDevice::divide(View y, View a, View b) {
  check_reals(tensor::DType::kF32, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  kernels::divide(y.as<float>(), a.as<float>(), b.as<float>(), y.elements());
}

void CpuDevice::square_root(View y, View x, double shift) {
  check_reals(tensor::DType::kF32, {y, x});
  check_equal_elements(y, x);
  kernels::square_root(y.as<float>(), x.as<float>(), static_cast<float>(shift),
                       y.elements());
}

void CpuDevice::reciprocal(View y, View x, double shift) {
  check_reals(tensor::DType::kF32, {y, x});
  check_equal_elements(y, x);
  kernels::reciprocal(y.as<float>(), x.as<float>(), static_cast<float>(shift),
                      y.elements());
}

}  // namespace dl::device
