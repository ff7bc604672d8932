// Elementwise arithmetic.

#include <algorithm>
#include <cmath>

#include "libcore/base/philox.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;

void ReferenceDevice::fill(View y, double value) {
  check_reals(DType::kF64, {y});
  std::fill_n(y.as<double>(), y.elements(), value);
}

void ReferenceDevice::copy(View y, View x) {
  check_reals(DType::kF64, {y, x});
  check_equal_elements(y, x);
  std::copy_n(x.as<double>(), x.elements(), y.as<double>());
}

void ReferenceDevice::scale(View y, double a) {
  check_reals(DType::kF64, {y});
  for (std::int64_t i = 0; i < y.elements(); ++i) y.as<double>()[i] *= a;
}

void ReferenceDevice::add(View y, double a, View x) {
  check_reals(DType::kF64, {y, x});
  check_equal_elements(y, x);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] += a * x.as<double>()[i];
}

void ReferenceDevice::multiply(View y, View a, View b) {
  check_reals(DType::kF64, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] = a.as<double>()[i] * b.as<double>()[i];
}

void ReferenceDevice::divide(View y, View a, View b) {
  check_reals(DType::kF64, {y, a, b});
  check_equal_elements(y, a);
  check_equal_elements(y, b);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] = a.as<double>()[i] / b.as<double>()[i];
}

void ReferenceDevice::square_root(View y, View x, double shift) {
  check_reals(DType::kF64, {y, x});
  check_equal_elements(y, x);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] = std::sqrt(x.as<double>()[i] + shift);
}

void ReferenceDevice::reciprocal(View y, View x, double shift) {
  check_reals(DType::kF64, {y, x});
  check_equal_elements(y, x);
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] = 1 / (x.as<double>()[i] + shift);
}

void ReferenceDevice::dropout_mask(View mask, double keep, std::uint64_t key,
                                   std::uint64_t stream, std::uint64_t first) {
  check_reals(DType::kF64, {mask});
  for (std::int64_t i = 0; i < mask.elements(); ++i) {
    const std::uint64_t position = first + static_cast<std::uint64_t>(i);
    const double draw = philox(key, position, stream)[0] * 0x1p-32;
    mask.as<double>()[i] = draw < keep ? 1 / keep : 0.0;
  }
}

}  // namespace dl::device
