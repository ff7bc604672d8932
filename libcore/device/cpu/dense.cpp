// Fully connected layers: the weights of a frozen one stay packed.

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"

namespace dl::device {
namespace {

using tensor::Activation;
using tensor::ActivationSpec;
using tensor::DType;
using tensor::Shape;
using tensor::View;

class CpuDense final : public tensor::Dense {
 public:
  CpuDense(CpuDevice& device, GemmScratch& scratch)
      : device_(device), scratch_(scratch) {}

  void forward(View y, View x, View w, View b) override {
    const bool frozen = w.empty();
    if (frozen) {
      w = w_;
      b = b_;
    }
    check_reals(DType::kF32, {y, x, w});
    const auto [m, n, k] = check_matmul(y, x, false, w, true);
    if (!b.empty()) check_shape(b, Shape{n});
    const GemmEnd end{.bias = b.empty() ? nullptr : b.as<float>(),
                      .relu = frozen && f_.kind == Activation::kRelu};
    const Matrix rows{x.as<float>(), k, 1};
    const Matrix weights = Matrix{w.as<float>(), k, 1}.transposed();
    // A program that predicts but once shall not pay for packing.
    if (frozen && used_ && packed_.n() == 0) packed_.pack(weights, k, n);
    if (packed_.n() == 0 || !frozen)
      gemm(scratch_, y.as<float>(), n, m, n, k, rows, weights, end);
    else
      gemm(scratch_, y.as<float>(), n, m, rows, packed_, end);
    used_ = frozen;
    if (frozen && !end.relu) device_.activate(f_, y, y);
  }

  bool freeze(View w, View b, const ActivationSpec& f) override {
    w_ = w;
    b_ = b;
    f_ = f;
    used_ = false;
    packed_ = {};
    return true;
  }

 private:
  CpuDevice& device_;
  GemmScratch& scratch_;
  View w_, b_;  // of a frozen one
  ActivationSpec f_;
  bool used_ = false;  // since it was frozen
  PackedMatrix packed_;
};

}  // namespace

std::unique_ptr<tensor::Dense> CpuDevice::dense() {
  return std::make_unique<CpuDense>(*this, *gemm_);
}

}  // namespace dl::device
