// Numbers that a step keeps on the device: sums in double, and whether all is
// finite.

#include <bit>
#include <cmath>
#include <limits>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/norms.h"

namespace dl::device {

using tensor::DType;

namespace kernels {

template <typename Value>
DL_INLINE double sum_of(const float* x, std::int64_t n, Value value) {
  double parts[kPartialSums] = {};
  const std::int64_t whole = n - n % kPartialSums;
  for (std::int64_t i = 0; i < whole; i += kPartialSums)
    for (std::int64_t l = 0; l < kPartialSums; ++l) parts[l] += value(x[i + l]);
  for (std::int64_t i = whole; i < n; ++i) parts[0] += value(x[i]);
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

DL_VECTOR double sum(const float* x, std::int64_t n) {
  return sum_of(x, n, [](double at) { return at; });
}

DL_VECTOR double sum_squares(const float* x, std::int64_t n) {
  return sum_of(x, n, [](double at) { return at * at; });
}

DL_VECTOR double sum_absolute(const float* x, std::int64_t n) {
  return sum_of(x, n, [](double at) { return std::fabs(at); });
}

// By the bits: an exponent of all ones is infinity or NaN.
DL_VECTOR bool all_finite(const float* x, std::int64_t n) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  std::uint32_t found = 0;
  for (std::int64_t i = 0; i < n; ++i)
    found |= (std::bit_cast<std::uint32_t>(x[i]) & kExponent) == kExponent;
  return found == 0;
}

}  // namespace kernels

void CpuDevice::add_sum(View number, double a, View x) {
  check_reals(DType::kF32, {x});
  number_in(number) += a * kernels::sum(x.as<float>(), x.elements());
}

void CpuDevice::add_absolute(View number, double a, View x) {
  check_reals(DType::kF32, {x});
  number_in(number) += a * kernels::sum_absolute(x.as<float>(), x.elements());
}

void CpuDevice::add_squares(View number, double a, View x) {
  check_reals(DType::kF32, {x});
  number_in(number) += a * kernels::sum_squares(x.as<float>(), x.elements());
}

void CpuDevice::check_finite(View number, View x) {
  check_reals(DType::kF32, {x});
  if (!kernels::all_finite(x.as<float>(), x.elements())) spoil(number);
}

void CpuDevice::bound_norms(View y, double least, double most, double rate) {
  check_reals(DType::kF32, {y});
  const Rows rows = rows_of(y);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    float* row = y.as<float>() + i * rows.length;
    const double norm = std::sqrt(kernels::sum_squares(row, rows.length));
    const auto factor =
        static_cast<float>(bounding_factor(norm, least, most, rate));
    if (factor == 1.0f) continue;
    for (std::int64_t j = 0; j < rows.length; ++j) row[j] *= factor;
  }
}

}  // namespace dl::device
