// Arithmetic on rows, and choosing among arrays and rows.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/choose_steps.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;

void ReferenceDevice::extreme(View y, View which, std::span<const View> inputs,
                              tensor::Extreme kind) {
  check_extreme(DType::kF64, y, which, inputs);
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < inputs.size(); ++j) {
      const double value = inputs[j].as<double>()[i];
      const double other = inputs[best].as<double>()[i];
      if (std::isnan(other)) continue;
      if (std::isnan(value) ||
          (kind == tensor::Extreme::kMax ? value > other : value < other))
        best = j;
    }
    y.as<double>()[i] = inputs[best].as<double>()[i];
    which.as<std::int32_t>()[i] = static_cast<std::int32_t>(best);
  }
}

void ReferenceDevice::take_where(View dx, View dy, View which, std::int32_t j) {
  check_take(DType::kF64, dx, dy, which);
  for (std::int64_t i = 0; i < dx.elements(); ++i)
    dx.as<double>()[i] =
        which.as<std::int32_t>()[i] == j ? dy.as<double>()[i] : 0;
}

void ReferenceDevice::dot_rows(View s, View a, View b) {
  const Rows rows = check_row_values(DType::kF64, a, s);
  check_reals(DType::kF64, {b});
  check_same_shape(a, b);
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < rows.length; ++j)
      sum += a.as<double>()[i * rows.length + j] *
             b.as<double>()[i * rows.length + j];
    s.as<double>()[i] = sum;
  }
}

void ReferenceDevice::scale_rows(View y, View x, View s, bool add) {
  const Rows rows = check_row_values(DType::kF64, x, s);
  check_reals(DType::kF64, {y});
  check_equal_elements(y, x);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const double value = x.as<double>()[i] * s.as<double>()[i / rows.length];
    y.as<double>()[i] = add ? y.as<double>()[i] + value : value;
  }
}

void ReferenceDevice::gather(View y, View table, View index) {
  const Rows rows = check_gather(DType::kF64, y, table, index);
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t j = 0; j < rows.length; ++j)
      y.as<double>()[i * rows.length + j] =
          table.as<double>()[index.as<std::int32_t>()[i] * rows.length + j];
}

void ReferenceDevice::scatter_add(View dtable, View dy, View index,
                                  std::int32_t padding) {
  const Rows rows = check_gather(DType::kF64, dy, dtable, index);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int32_t row = index.as<std::int32_t>()[i];
    if (row == padding) continue;
    for (std::int64_t j = 0; j < rows.length; ++j)
      dtable.as<double>()[row * rows.length + j] +=
          dy.as<double>()[i * rows.length + j];
  }
}

void ReferenceDevice::choose_steps(View index, View mask, StepChoice choice) {
  check_choice(DType::kF64, index, mask, choice);
  device::choose_steps<double>(index, mask, choice);
}

}  // namespace dl::device
