// Elementwise arithmetic.

#include <cmath>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/map.h"

namespace dl::device::cuda {

using tensor::DType;

void CudaDevice::fill(View y, double value) {
  if (y.dtype == DType::kF64) {  // numbers
    double* const to = y.as<double>();
    each(stream_, y.elements(),
         [=] DL_DEVICE(std::int64_t i) { to[i] = value; });
    return;
  }
  check_reals({y});
  const Reals to(y);
  const auto same = static_cast<float>(value);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, same); });
}

void CudaDevice::copy(View y, View x) {
  check_reals({y, x});
  check_equal_elements(y, x);
  if (y.dtype == x.dtype) {
    stream_.copy(y.data, x.data,
                 static_cast<std::size_t>(y.elements()) * size_of(y.dtype),
                 cudaMemcpyDeviceToDevice);
    return;
  }
  map(
      stream_, y.elements(), [] DL_DEVICE(float value) { return value; },
      Reals(y), Reals(x));
}

void CudaDevice::scale(View y, double a) {
  check_reals({y});
  const auto factor = static_cast<float>(a);
  map(
      stream_, y.elements(),
      [=] DL_DEVICE(float value) { return value * factor; }, Reals(y),
      Reals(y));
}

void CudaDevice::add(View y, double a, View x) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const auto factor = static_cast<float>(a);
  map(
      stream_, y.elements(),
      [=] DL_DEVICE(float sum, float value) { return sum + factor * value; },
      Reals(y), Reals(y), Reals(x));
}

void CudaDevice::multiply(View y, View a, View b) {
  check_reals({y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  map(
      stream_, y.elements(),
      [] DL_DEVICE(float left, float right) { return left * right; }, Reals(y),
      Reals(a), Reals(b));
}

void CudaDevice::divide(View y, View a, View b) {
  check_reals({y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  map(
      stream_, y.elements(),
      [] DL_DEVICE(float left, float right) { return left / right; }, Reals(y),
      Reals(a), Reals(b));
}

void CudaDevice::square_root(View y, View x, double shift) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const auto more = static_cast<float>(shift);
  map(
      stream_, y.elements(),
      [=] DL_DEVICE(float value) { return std::sqrt(value + more); }, Reals(y),
      Reals(x));
}

void CudaDevice::reciprocal(View y, View x, double shift) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const auto more = static_cast<float>(shift);
  map(
      stream_, y.elements(),
      [=] DL_DEVICE(float value) { return 1 / (value + more); }, Reals(y),
      Reals(x));
}

}  // namespace dl::device::cuda
