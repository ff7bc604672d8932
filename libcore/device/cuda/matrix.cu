// Products of matrices, what is done with their rows, and fully connected
// layers.

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/reduce.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::Shape;
using tensor::Slice;
using tensor::View;

namespace {

// Of matrices without gaps between their rows.
Product product_of(const MatmulExtents& e, bool transpose_a, bool transpose_b,
                   double beta) {
  Product p;
  p.m = e.m;
  p.n = e.n;
  p.k = e.k;
  p.transpose_a = transpose_a;
  p.transpose_b = transpose_b;
  p.row_a = transpose_a ? e.m : e.k;
  p.row_b = transpose_b ? e.k : e.n;
  p.row_c = e.n;
  p.beta = static_cast<float>(beta);
  return p;
}

}  // namespace

void CudaDevice::matmul(View c, View a, bool transpose_a, View b,
                        bool transpose_b, double beta) {
  check_reals(DType::kF32, {c, a, b});
  const MatmulExtents extents = check_matmul(c, a, transpose_a, b, transpose_b);
  products_(product_of(extents, transpose_a, transpose_b, beta), c.as<float>(),
            a.as<float>(), b.as<float>());
}

void CudaDevice::exact_matmul(View c, View a, bool transpose_a, View b,
                              bool transpose_b) {
  check_reals(DType::kF32, {c, a, b});
  Product p = product_of(check_matmul(c, a, transpose_a, b, transpose_b),
                         transpose_a, transpose_b, 0);
  p.exact = true;
  products_(p, c.as<float>(), a.as<float>(), b.as<float>());
}

void CudaDevice::add_bias(View y, View b) {
  check_reals(DType::kF32, {y, b});
  const std::int64_t length = rows_of(y).length;
  check_shape(b, Shape{length});
  float* const to = y.as<float>();
  const float* const bias = b.as<float>();
  each(stream_, y.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] += bias[i % length]; });
}

void CudaDevice::sum_rows(View s, View x) {
  check_reals(DType::kF32, {s, x});
  const Rows rows = rows_of(x);
  check_shape(s, Shape{rows.length});
  if (rows.length == 0) return;
  float* const to = s.as<float>();
  const float* const from = x.as<float>();
  const std::int64_t length = rows.length;
  sum_columns<double>(
      stream_, rows.count, length,
      [=] DL_DEVICE(std::int64_t i, std::int64_t c) -> double {
        return from[i * length + c];
      },
      [=] DL_DEVICE(std::int64_t c, double sum) {
        to[c] = static_cast<float>(sum);
      });
}

namespace {

class CudaDense final : public tensor::Dense {
 public:
  explicit CudaDense(MatrixProduct& products) : products_(products) {}

  void forward(View y, View x, View w, View b, Slice slice) override {
    check_reals(DType::kF32, {y, x, w});
    Product p = product_of(check_matmul(y, x, false, w, true), false, true, 0);
    const float* bias = nullptr;
    if (!b.empty()) {
      check_reals(DType::kF32, {b});
      check_shape(b, Shape{p.n});
      bias = b.as<float>();
    }
    const std::int64_t first = keep(p.n, slice);
    products_(p, y.as<float>() + first, x.as<float>(),
              w.as<float>() + first * p.row_b,
              bias == nullptr ? nullptr : bias + first);
  }
  void backward_weights(View dw, View x, View dy, Slice slice) override {
    check_reals(DType::kF32, {dw, x, dy});
    Product p =
        product_of(check_matmul(dw, dy, true, x, false), true, false, 0);
    const std::int64_t first = keep(p.m, slice);
    products_(p, dw.as<float>() + first * p.row_c, dy.as<float>() + first,
              x.as<float>());
  }
  void backward_data(View dx, View dy, View w, Slice slice) override {
    check_reals(DType::kF32, {dx, dy, w});
    Product p =
        product_of(check_matmul(dx, dy, false, w, false), false, false, 0);
    const std::int64_t first = keep(p.n, slice);
    products_(p, dx.as<float>() + first, dy.as<float>(), w.as<float>() + first);
  }

 private:
  // Leaves the slice's part of an extent, and says where it begins.
  static std::int64_t keep(std::int64_t& extent, Slice slice) {
    const std::int64_t first = extent * slice.index / slice.count;
    extent = extent * (slice.index + 1) / slice.count - first;
    return first;
  }

  MatrixProduct& products_;
};

}  // namespace

std::unique_ptr<tensor::Dense> CudaDevice::dense() {
  return std::make_unique<CudaDense>(products_);
}

}  // namespace dl::device::cuda
