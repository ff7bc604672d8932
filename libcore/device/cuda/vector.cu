// Elementwise arithmetic.

#include <cmath>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/reals.h"

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
  const Reals to(y), from(x);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, from[i]); });
}

void CudaDevice::scale(View y, double a) {
  check_reals({y});
  const Reals to(y);
  const auto factor = static_cast<float>(a);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, to[i] * factor); });
}

void CudaDevice::add(View y, double a, View x) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const Reals to(y), from(x);
  const auto factor = static_cast<float>(a);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, to[i] + factor * from[i]); });
}

void CudaDevice::multiply(View y, View a, View b) {
  check_reals({y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  const Reals to(y), left(a), right(b);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, left[i] * right[i]); });
}

void CudaDevice::divide(View y, View a, View b) {
  check_reals({y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  const Reals to(y), left(a), right(b);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, left[i] / right[i]); });
}

void CudaDevice::square_root(View y, View x, double shift) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const Reals to(y), from(x);
  const auto more = static_cast<float>(shift);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, std::sqrt(from[i] + more)); });
}

void CudaDevice::reciprocal(View y, View x, double shift) {
  check_reals({y, x});
  check_equal_elements(y, x);
  const Reals to(y), from(x);
  const auto more = static_cast<float>(shift);
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, 1 / (from[i] + more)); });
}

}  // namespace dl::device::cuda
