// Numbers that a step keeps on the device: sums in double, and whether all is
// finite.

#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/number.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"
#include "libcore/device/norms.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::View;

namespace {

// number += a * the sum of value(x[i]).
template <class Value>
void add_to(Stream& stream, View number, double a, View x, const Value& value) {
  check_reals({x});
  double* const to = number_at(number);
  const Reals from(x);
  sum_columns<double>(
      stream, x.elements(), 1,
      [=] DL_DEVICE(std::int64_t i, std::int64_t) { return value(from[i]); },
      [=] DL_DEVICE(std::int64_t, double sum) { *to += a * sum; });
}

// One block a row.
struct BoundNorms {
  std::int64_t length;
  double least, most, rate;
  Reals y;

  DL_DEVICE void operator()(const Block& b) const {
    const Reals row = y + b.index * length;
    const double squares = reduce_over(
        b, length, 0.0,
        [row](std::int64_t j) { return double{row[j]} * row[j]; }, Sum{});
    const auto by = static_cast<float>(
        bounding_factor(std::sqrt(squares), least, most, rate));
    if (by == 1) return;
    for (std::int64_t j = b.thread; j < length; j += b.threads)
      row.set(j, row[j] * by);
  }
};

// One block: there are few numbers.
struct NormFactor {
  std::int64_t count;
  const double* squares;
  double most;
  bool always;
  double* factor;
  DL_DEVICE void operator()(const Block& b) const {
    const double* const from = squares;
    const double sum = reduce_over(
        b, count, 0.0, [from](std::int64_t i) { return from[i]; }, Sum{});
    if (b.thread == 0) *factor = clipping_factor(std::sqrt(sum), most, always);
  }
};

struct AddNumbers {
  std::int64_t count;
  const double* numbers;
  double* number;
  DL_DEVICE void operator()(const Block& b) const {
    const double* const from = numbers;
    const double sum = reduce_over(
        b, count, 0.0, [from](std::int64_t i) { return from[i]; }, Sum{});
    if (b.thread == 0) *number += sum;
  }
};

const double* numbers_at(View numbers) {
  require(numbers.dtype == DType::kF64, "a sum of what are no numbers");
  return numbers.as<double>();
}

}  // namespace

void CudaDevice::add_numbers(View number, View numbers) {
  const std::int64_t count = numbers.elements();
  blocks(stream_, 1, threads_for(count), sizeof(double),
         AddNumbers{count, numbers_at(numbers), number_at(number)});
}

void CudaDevice::check_at_most(View number, View x, double most) {
  double* const to = number_at(number);
  const double* const from = number_at(x);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  each(stream_, 1, [=] DL_DEVICE(std::int64_t) {
    if (!(*from <= most)) *to = kNan;
  });
}

void CudaDevice::norm_factor(View factor, View squares, double most,
                             bool always) {
  const std::int64_t count = squares.elements();
  blocks(
      stream_, 1, threads_for(count), sizeof(double),
      NormFactor{count, numbers_at(squares), most, always, number_at(factor)});
}

void CudaDevice::add_sum(View number, double a, View x) {
  add_to(stream_, number, a, x,
         [] DL_DEVICE(float value) { return double{value}; });
}

void CudaDevice::add_absolute(View number, double a, View x) {
  add_to(stream_, number, a, x,
         [] DL_DEVICE(float value) { return double{std::fabs(value)}; });
}

void CudaDevice::add_squares(View number, double a, View x) {
  add_to(stream_, number, a, x,
         [] DL_DEVICE(float value) { return double{value} * value; });
}

// Whoever finds something writes the same.
void CudaDevice::check_finite(View number, View x) {
  check_reals({x});
  double* const to = number_at(number);
  const Reals from(x);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  each(stream_, x.elements(), [=] DL_DEVICE(std::int64_t i) {
    if (!(from[i] - from[i] == 0)) *to = kNan;
  });
}

void CudaDevice::bound_norms(View y, double least, double most, double rate) {
  check_reals({y});
  const Rows rows = rows_of(y);
  blocks(stream_, rows.count, threads_for(rows.length), sizeof(double),
         BoundNorms{rows.length, least, most, rate, Reals(y)});
}

}  // namespace dl::device::cuda
