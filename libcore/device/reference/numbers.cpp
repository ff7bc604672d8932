// Numbers that a step keeps on the device: sums, and whether all is finite.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/norms.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;

void ReferenceDevice::add_sum(View number, double a, View x) {
  check_reals(DType::kF64, {x});
  double sum = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i) sum += x.as<double>()[i];
  number_in(number) += a * sum;
}

void ReferenceDevice::add_absolute(View number, double a, View x) {
  check_reals(DType::kF64, {x});
  double sum = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i)
    sum += std::abs(x.as<double>()[i]);
  number_in(number) += a * sum;
}

void ReferenceDevice::add_squares(View number, double a, View x) {
  check_reals(DType::kF64, {x});
  double sum = 0;
  for (std::int64_t i = 0; i < x.elements(); ++i)
    sum += x.as<double>()[i] * x.as<double>()[i];
  number_in(number) += a * sum;
}

void ReferenceDevice::check_finite(View number, View x) {
  check_reals(DType::kF64, {x});
  for (std::int64_t i = 0; i < x.elements(); ++i)
    if (!std::isfinite(x.as<double>()[i])) spoil(number);
}

void ReferenceDevice::bound_norms(View y, double least, double most,
                                  double rate) {
  check_reals(DType::kF64, {y});
  const Rows rows = rows_of(y);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    double* row = y.as<double>() + i * rows.length;
    double squares = 0;
    for (std::int64_t j = 0; j < rows.length; ++j) squares += row[j] * row[j];
    const double factor =
        bounding_factor(std::sqrt(squares), least, most, rate);
    for (std::int64_t j = 0; j < rows.length; ++j) row[j] *= factor;
  }
}

}  // namespace dl::device
