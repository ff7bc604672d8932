// Arithmetic on rows, and choosing among arrays and rows.

#include <algorithm>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/choose_steps.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// y and which hold the best so far; `sign` -1 looks for the smallest.
DL_VECTOR void choose(float* y, std::int32_t* which, const float* x, float sign,
                      std::int32_t j, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = x[i], best = y[i];
    const bool better = !(sign * value <= sign * best) && best == best;
    y[i] = better ? value : best;
    which[i] = better ? j : which[i];
  }
}

DL_VECTOR void take_where(float* dx, const float* dy, const std::int32_t* which,
                          std::int32_t j, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) dx[i] = which[i] == j ? dy[i] : 0.0f;
}

DL_VECTOR void dot_rows(float* s, const float* a, const float* b,
                        std::int64_t rows, std::int64_t length) {
  const std::int64_t whole = length - length % kPartialSums;
  for (std::int64_t r = 0; r < rows; ++r, a += length, b += length) {
    double parts[kPartialSums] = {}, sum = 0;
    for (std::int64_t j = 0; j < whole; j += kPartialSums)
      for (std::int64_t l = 0; l < kPartialSums; ++l)
        parts[l] += static_cast<double>(a[j + l]) * b[j + l];
    for (std::int64_t j = whole; j < length; ++j)
      sum += static_cast<double>(a[j]) * b[j];
    for (const double part : parts) sum += part;
    s[r] = static_cast<float>(sum);
  }
}

DL_VECTOR void scale_rows(float* y, const float* x, const float* s,
                          std::int64_t rows, std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const float factor = s[r];
    DL_INDEPENDENT
    for (std::int64_t j = 0; j < length; ++j) y[j] = x[j] * factor;
  }
}

DL_VECTOR void add_scaled_rows(float* y, const float* x, const float* s,
                               std::int64_t rows, std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const float factor = s[r];
    DL_INDEPENDENT
    for (std::int64_t j = 0; j < length; ++j) y[j] += x[j] * factor;
  }
}

DL_VECTOR void scatter_add(float* table, const float* dy,
                           const std::int32_t* index, std::int32_t padding,
                           std::int64_t rows, std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r, dy += length) {
    if (index[r] == padding) continue;
    float* to = table + index[r] * length;
    DL_INDEPENDENT
    for (std::int64_t j = 0; j < length; ++j) to[j] += dy[j];
  }
}

}  // namespace kernels

using tensor::DType;

void CpuDevice::extreme(View y, View which, std::span<const View> inputs,
                        tensor::Extreme kind) {
  check_extreme(DType::kF32, y, which, inputs);
  const std::int64_t n = y.elements();
  std::copy_n(inputs[0].as<float>(), n, y.as<float>());
  std::fill_n(which.as<std::int32_t>(), n, 0);
  const float sign = kind == tensor::Extreme::kMax ? 1.0f : -1.0f;
  for (std::size_t j = 1; j < inputs.size(); ++j)
    kernels::choose(y.as<float>(), which.as<std::int32_t>(),
                    inputs[j].as<float>(), sign, static_cast<std::int32_t>(j),
                    n);
}

void CpuDevice::take_where(View dx, View dy, View which, std::int32_t j) {
  check_take(DType::kF32, dx, dy, which);
  kernels::take_where(dx.as<float>(), dy.as<float>(), which.as<std::int32_t>(),
                      j, dx.elements());
}

void CpuDevice::dot_rows(View s, View a, View b) {
  const Rows rows = check_row_values(DType::kF32, a, s);
  check_reals(DType::kF32, {b});
  check_same_shape(a, b);
  kernels::dot_rows(s.as<float>(), a.as<float>(), b.as<float>(), s.elements(),
                    rows.length);
}

void CpuDevice::scale_rows(View y, View x, View s, bool add) {
  const Rows rows = check_row_values(DType::kF32, x, s);
  check_reals(DType::kF32, {y});
  check_equal_elements(y, x);
  (add ? kernels::add_scaled_rows : kernels::scale_rows)(
      y.as<float>(), x.as<float>(), s.as<float>(), rows.count, rows.length);
}

void CpuDevice::gather(View y, View table, View index) {
  const Rows rows = check_gather(DType::kF32, y, table, index);
  for (std::int64_t i = 0; i < rows.count; ++i)
    std::copy_n(table.as<float>() + index.as<std::int32_t>()[i] * rows.length,
                rows.length, y.as<float>() + i * rows.length);
}

void CpuDevice::scatter_add(View dtable, View dy, View index,
                            std::int32_t padding) {
  const Rows rows = check_gather(DType::kF32, dy, dtable, index);
  kernels::scatter_add(dtable.as<float>(), dy.as<float>(),
                       index.as<std::int32_t>(), padding, rows.count,
                       rows.length);
}

void CpuDevice::choose_steps(View index, View mask, StepChoice choice) {
  check_choice(DType::kF32, index, mask, choice);
  device::choose_steps<float>(index, mask, choice);
}

}  // namespace dl::device
