// Convolutions of stride 1 by Winograd's F(4x4, 3x3): a tile of 4x4 outputs
// costs 36 products a channel and filter in place of 144 (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015).  Weights and 6x6 inputs
// are transformed, 36 matrix products follow, their results are transformed
// back.  The gradients are the transposes of these steps.  Likewise F(3x3, 4x4)
// with 36 in place of 144, and F(4x4, 2x2) with 25 in place of 64.
//
// A tile's results do not depend on the tiles beside it.

#ifndef DL_LIBCORE_DEVICE_CPU_WINOGRAD_H_
#define DL_LIBCORE_DEVICE_CPU_WINOGRAD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libcore/device/api/conv2d.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/spread.h"
#include "libcore/tensor/tensor.h"

namespace dl::device {

class Winograd {
 public:
  // Whether such a convolution can be computed so, and gains by it.
  static bool suits(const Conv2dSpec& spec);

  // `products` is room for the products, used during calls.
  Winograd(const Conv2dSpec& spec, GemmScratch& products);

  // Floats of scratch that calls for up to `batch` images need.
  std::int64_t scratch(std::int64_t batch) const;

  // Arrays as in Conv2d; b may be null.
  void forward(std::int64_t batch, float* y, const float* x, const float* w,
               const float* b, float* scratch);
  void backward_data(std::int64_t batch, float* dx, const float* dy,
                     const float* w, float* scratch);
  void backward_weights(std::int64_t batch, float* dw, const float* x,
                        const float* dy, float* scratch);

  // Keeps transformed weights for forward_frozen(), which are two to six times
  // as large as the weights; b may be null.
  void freeze(const float* w, const float* b);
  // Keeps those of another, without a copy.
  void freeze_like(const Winograd& other) { frozen_ = other.frozen_; }
  bool is_frozen() const { return frozen_ != nullptr; }
  std::int64_t frozen_scratch(std::int64_t batch) const;
  // finish(first, count): these images of y are complete, and in the cache.
  void forward_frozen(
      std::int64_t batch, float* y, const float* x, float* scratch,
      Spread& spread,
      const std::function<void(std::int64_t, std::int64_t)>& finish);

 private:
  struct Frozen {
    // [in, filters], of a point.
    Packed at(std::int64_t point, std::int64_t in, std::int64_t filters) {
      return {weights.as<float>().data() + point * step, in, filters};
    }

    tensor::Tensor weights;
    std::int64_t step;  // from one point to the next
    std::vector<float> bias;
  };

  Conv2dSpec spec_;
  GemmScratch& products_;
  std::shared_ptr<Frozen> frozen_;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_WINOGRAD_H_
