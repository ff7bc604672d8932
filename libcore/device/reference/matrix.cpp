// Matrix product and sums over rows.

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;
using tensor::Shape;
using tensor::View;

namespace {

struct Range {
  Range(Slice slice, std::int64_t all)
      : begin(all * slice.index / slice.count),
        end(all * (slice.index + 1) / slice.count) {}
  std::int64_t begin, end;
};

// Product of slices of the rows and columns of c.
void product(const View& c, const View& a, bool transpose_a, const View& b,
             bool transpose_b, double beta, Slice rows, Slice columns) {
  check_reals(DType::kF64, {c, a, b});
  const auto [m, n, k] = check_matmul(c, a, transpose_a, b, transpose_b);
  const Range all_i(rows, m), all_j(columns, n);
  for (std::int64_t i = all_i.begin; i < all_i.end; ++i) {
    for (std::int64_t j = all_j.begin; j < all_j.end; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a.as<double>()[transpose_a ? l * m + i : i * k + l] *
               b.as<double>()[transpose_b ? j * k + l : l * n + j];
      double& value = c.as<double>()[i * n + j];
      value = beta == 0 ? sum : sum + beta * value;  // NaN in C ends at beta 0
    }
  }
}

}  // namespace

void ReferenceDevice::matmul(View c, View a, bool transpose_a, View b,
                             bool transpose_b, double beta) {
  product(c, a, transpose_a, b, transpose_b, beta, {}, {});
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

class ReferenceDense final : public Dense {
 public:
  void forward(View y, View x, View w, View b, Slice slice) override {
    product(y, x, false, w, true, 0, {}, slice);
    if (b.empty()) return;
    const Rows rows = rows_of(y);
    check_shape(b, Shape{rows.length});
    const Range units(slice, rows.length);
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (std::int64_t j = units.begin; j < units.end; ++j)
        y.as<double>()[i * rows.length + j] += b.as<double>()[j];
  }
  void backward_weights(View dw, View x, View dy, Slice slice) override {
    product(dw, dy, true, x, false, 0, slice, {});
  }
  void backward_data(View dx, View dy, View w, Slice slice) override {
    product(dx, dy, false, w, false, 0, {}, slice);
  }
};

}  // namespace

std::unique_ptr<Dense> ReferenceDevice::dense() {
  return std::make_unique<ReferenceDense>();
}

}  // namespace dl::device
