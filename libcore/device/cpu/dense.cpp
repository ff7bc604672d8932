// Fully connected layers, or slices of them: the weights of a frozen one stay
// packed.

#include <memory>
#include <mutex>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/spread.h"

namespace dl::device {
namespace {
using tensor::DType;
using tensor::Shape;
using tensor::View;

// State that predicting lanes share.
struct FrozenDense {
  View w, b;
  ActivationSpec f;
  Precision precision;
  std::once_flag packing;
  PackedMatrix packed;
};

class CpuDense final : public Dense {
 public:
  CpuDense(CpuDevice& device, GemmScratch& scratch, Spread& spread)
      : device_(device), scratch_(scratch), spread_(spread) {}

  void forward(View y, View x, View w, View b, Slice slice) override {
    if (w.empty() && frozen_) return forward_frozen(y, x);
    const auto [m, n, k] = check(y, x, w, b);
    const auto [first, count] = columns_of(n, slice.index, slice.count);
    gemm(scratch_, y.as<float>() + first, n, m, count, k, rows_from(x),
         rows_from(w, first).transposed(),
         {.bias = b.empty() ? nullptr : b.as<float>() + first});
  }

  void backward_weights(View dw, View x, View dy, Slice slice) override {
    check_reals(DType::kF32, {dw, x, dy});
    const auto [m, n, k] = check_matmul(dw, dy, true, x, false);
    const auto [first, count] = columns_of(m, slice.index, slice.count);
    gemm(scratch_, dw.as<float>() + first * n, n, count, n, k,
         columns_from(dy, first).transposed(), rows_from(x), {});
  }

  void backward_data(View dx, View dy, View w, Slice slice) override {
    check_reals(DType::kF32, {dx, dy, w});
    const auto [m, n, k] = check_matmul(dx, dy, false, w, false);
    const auto [first, count] = columns_of(n, slice.index, slice.count);
    gemm(scratch_, dx.as<float>() + first, n, m, count, k, rows_from(dy),
         columns_from(w, first), {});
  }

  bool freeze(View w, View b, const ActivationSpec& f) override {
    frozen_ = std::make_shared<FrozenDense>();
    frozen_->w = w;
    frozen_->b = b;
    frozen_->f = f;
    frozen_->precision = device_.weights();
    used_ = false;
    return true;
  }

  void freeze_like(const Dense& other) override {
    frozen_ = dynamic_cast<const CpuDense&>(other).frozen_;
    used_ = false;
  }

 private:
  static const float* floats(const View& b) {
    return b.empty() ? nullptr : b.as<float>();
  }
  static Matrix rows_from(const View& v, std::int64_t first = 0) {
    return {v.as<float>() + first * v.shape[1], v.shape[1], 1};
  }
  static Matrix columns_from(const View& v, std::int64_t first) {
    return {v.as<float>() + first, v.shape[1], 1};
  }
  static MatmulExtents check(const View& y, const View& x, const View& w,
                             const View& b) {
    check_reals(DType::kF32, {y, x, w});
    const MatmulExtents extents = check_matmul(y, x, false, w, true);
    if (!b.empty()) check_shape(b, Shape{extents.n});
    return extents;
  }

  void forward_frozen(View y, View x) {
    FrozenDense& z = *frozen_;
    const MatmulExtents extents = check(y, x, z.w, z.b);
    const std::int64_t m = extents.m, n = extents.n, k = extents.k;
    const GemmEnd end{.bias = floats(z.b),
                      .relu = z.f.kind == Activation::kRelu};
    const Matrix rows = rows_from(x), weights = rows_from(z.w).transposed();
    const bool as_it_is = z.precision == Precision::kFloat32;
    if (used_ || !as_it_is) {
      std::call_once(z.packing,
                     [&] { z.packed.pack(weights, k, n, z.precision); });
      gemm(spread_, scratch_, y.as<float>(), n, m, rows, z.packed.packed(),
           end);
    } else {  // a program that predicts but once shall not pay for packing
      gemm(scratch_, y.as<float>(), n, m, n, k, rows, weights, end);
    }
    used_ = true;
    if (!end.relu) device_.activate(z.f, y, y);
  }

  CpuDevice& device_;
  GemmScratch& scratch_;
  Spread& spread_;
  std::shared_ptr<FrozenDense> frozen_;
  bool used_ = false;  // since it was frozen
};

}  // namespace

std::unique_ptr<Dense> CpuDevice::dense() {
  return std::make_unique<CpuDense>(*this, *gemm_, *spread_);
}

}  // namespace dl::device
