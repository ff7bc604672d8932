// Matrix product and sums over rows.

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;
using tensor::Shape;

void ReferenceDevice::matmul(View c, View a, bool transpose_a, View b,
                             bool transpose_b, double beta) {
  check_reals(DType::kF64, {c, a, b});
  const auto [m, n, k] = check_matmul(c, a, transpose_a, b, transpose_b);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a.as<double>()[transpose_a ? l * m + i : i * k + l] *
               b.as<double>()[transpose_b ? j * k + l : l * n + j];
      double& value = c.as<double>()[i * n + j];
      value = beta == 0 ? sum : sum + beta * value;  // NaN in C ends at beta 0
    }
  }
}

void ReferenceDevice::add_bias(View y, View b) {
  check_reals(DType::kF64, {y, b});
  const Rows rows = rows_of(y);
  check_shape(b, Shape{rows.length});
  for (std::int64_t i = 0; i < y.elements(); ++i)
    y.as<double>()[i] += b.as<double>()[i % rows.length];
}

void ReferenceDevice::sum_rows(View s, View x) {
  check_reals(DType::kF64, {s, x});
  const Rows rows = rows_of(x);
  check_shape(s, Shape{rows.length});
  std::fill_n(s.as<double>(), rows.length, 0.0);
  for (std::int64_t i = 0; i < x.elements(); ++i)
    s.as<double>()[i % rows.length] += x.as<double>()[i];
}

namespace {

class ReferenceDense final : public tensor::Dense {
 public:
  explicit ReferenceDense(ReferenceDevice& device) : device_(device) {}
  void forward(tensor::View y, tensor::View x, tensor::View w,
               tensor::View b) override {
    device_.matmul(y, x, false, w, true, 0);
    if (!b.empty()) device_.add_bias(y, b);
  }

 private:
  ReferenceDevice& device_;
};

}  // namespace

std::unique_ptr<tensor::Dense> ReferenceDevice::dense() {
  return std::make_unique<ReferenceDense>(*this);
}

}  // namespace dl::device
