// Products of matrices, what is done with their rows, and fully connected
// layers.

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/packed_columns.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::Shape;
using tensor::View;

namespace {

// Product of matrices without gaps between their rows.
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

struct Itself {
  struct Column {};
  DL_DEVICE Column column(std::int64_t) const { return {}; }
  DL_DEVICE float value(const Column&, const float (&in)[1]) const {
    return in[0];
  }
};

}  // namespace

void CudaDevice::matmul(View c, View a, bool transpose_a, View b,
                        bool transpose_b, double beta) {
  check_reals({c, a, b});
  const MatmulExtents extents = check_matmul(c, a, transpose_a, b, transpose_b);
  products_(product_of(extents, transpose_a, transpose_b, beta), Reals(c),
            Reals(a), Reals(b));
}

void CudaDevice::exact_matmul(View c, View a, bool transpose_a, View b,
                              bool transpose_b) {
  check_reals({c, a, b});
  Product p = product_of(check_matmul(c, a, transpose_a, b, transpose_b),
                         transpose_a, transpose_b, 0);
  p.exact = true;
  std::int64_t elements = 0;
  for (const View& v : {c, a, b})
    if (v.dtype != DType::kF32) elements += v.elements();
  float* room = stream_.scratch<float>(elements);
  const auto as_floats = [&](const View& v) {
    if (v.dtype == DType::kF32) return v;
    const View wide{reinterpret_cast<std::byte*>(room), DType::kF32, v.shape};
    room += v.elements();
    return wide;
  };
  const View wide_c = as_floats(c), wide_a = as_floats(a),
             wide_b = as_floats(b);
  if (wide_a.data != a.data) copy(wide_a, a);
  if (wide_b.data != b.data) copy(wide_b, b);
  products_(p, Reals(wide_c), Reals(wide_a), Reals(wide_b));
  if (wide_c.data != c.data) copy(c, wide_c);
}

void CudaDevice::sum_rows(View s, View x) {
  check_reals({s, x});
  const Rows rows = rows_of(x);
  check_shape(s, Shape{rows.length});
  if (rows.length == 0) return;
  const Reals to(s);
  sum_columns_of<double>(stream_, rows.count, rows.length,
                         Inputs<1>{{Reals(x)}}, Itself{},
                         [=] DL_DEVICE(std::int64_t c, double sum) {
                           to.set(c, static_cast<float>(sum));
                         });
}

namespace {

class CudaDense final : public Dense {
 public:
  explicit CudaDense(MatrixProduct& products) : products_(products) {}

  void forward(View y, View x, View w, View b, Slice slice) override {
    check_reals({y, x, w});
    Product p = product_of(check_matmul(y, x, false, w, true), false, true, 0);
    if (!b.empty()) {
      check_reals({b});
      check_shape(b, Shape{p.n});
    }
    const std::int64_t first = keep(p.n, slice);
    products_(p, Reals(y) + first, Reals(x), Reals(w) + first * p.row_b,
              b.empty() ? Reals() : Reals(b) + first);
  }
  void backward_weights(View dw, View x, View dy, Slice slice) override {
    check_reals({dw, x, dy});
    Product p =
        product_of(check_matmul(dw, dy, true, x, false), true, false, 0);
    const std::int64_t first = keep(p.m, slice);
    products_(p, Reals(dw) + first * p.row_c, Reals(dy) + first, Reals(x));
  }
  void backward_data(View dx, View dy, View w, Slice slice) override {
    check_reals({dx, dy, w});
    Product p =
        product_of(check_matmul(dx, dy, false, w, false), false, false, 0);
    const std::int64_t first = keep(p.n, slice);
    products_(p, Reals(dx) + first, Reals(dy), Reals(w) + first);
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

std::unique_ptr<Dense> CudaDevice::dense() {
  return std::make_unique<CudaDense>(products_);
}

}  // namespace dl::device::cuda
