// Convolution with max pooling: of images of few channels in one pass each way
// (few_channels_pool.h, few_channels_slopes.h), else of its two parts.

#include <memory>

#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
#include "libcore/device/cuda/conv/conv_axes.h"
#include "libcore/device/cuda/conv/exact_conv.h"
#include "libcore/device/cuda/conv/few_channels_pool.h"
#include "libcore/device/cuda/conv/few_channels_slopes.h"
#include "libcore/device/cuda/cuda_device.h"

namespace dl::device::cuda {
using tensor::DType;
using tensor::View;

namespace {

class ConvMaxPool final : public Conv2d {
 public:
  ConvMaxPool(CudaDevice& device, const Conv2dSpec& spec,
              std::int64_t max_batch)
      : device_(device),
        stream_(device.stream()),
        spec_(spec),
        max_batch_(max_batch),
        axes_(axes_of(volume_of(spec))),
        exact_(exact_conv(device, spec, max_batch)),
        chosen_(device.allocate({up(pooled(narrow(max_batch)).elements(), 4)},
                                DType::kI32)) {}

  void forward(View y, View x, View w, View b) override {
    forward(y, x, w, b, false);
  }
  bool forward_activated(View y, View x, View w, View b,
                         const ActivationSpec& f) override {
    const bool relu = f.kind == Activation::kRelu;
    forward(y, x, w, b, relu);
    if (!relu) device_.activate(f, y, y);
    return true;
  }

  void backward_data(View dx, View dy, View w) override {
    exact_->backward_data(dx, unpooled(check(dx, dy, w, {}), dy), w);
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const int batch = check(x, dy, dw, db);
    MaxPoolSlopes slopes = MaxPoolSlopes::of(pixels(batch), pooled(batch));
    if (slopes.shared() > kMostShared) {
      exact_->backward_weights(dw, {}, x, unpooled(batch, dy));
      if (!db.empty()) device_.sum_rows(db, dy);
      return;
    }
    slopes.x = x.as<float>();
    slopes.dy = dy.as<float>();
    slopes.chosen = chosen();
    few_channels_slopes(stream_, slopes, dw.as<float>(), db.as<float>());
  }

 private:
  static constexpr std::size_t kMostShared = std::size_t{48} << 10;

  int check(const View& x, const View& y, const View& w, const View& b) const {
    check_reals(DType::kF32, {x, y});
    check_weights(DType::kF32, spec_, w, b);
    return static_cast<int>(check_max_pool_images(spec_, max_batch_, x, y));
  }
  Pixels pixels(int batch) const {
    const int channels = narrow(spec_.channels);
    return pixels_of(axes_, batch, channels, channels);
  }
  Pooled pooled(int batch) const {
    return Pooled::of(axes_, batch, narrow(spec_.filters));
  }
  std::uint8_t* chosen() const {
    return reinterpret_cast<std::uint8_t*>(chosen_->view().data);
  }

  void forward(View y, View x, View w, View b, bool relu) {
    const int batch = check(x, y, w, b);
    few_channels_max_pool(stream_, pixels(batch), pooled(batch), y.as<float>(),
                          chosen(), x.as<float>(), w.as<float>(), b.as<float>(),
                          relu);
  }

  // Only where somebody asks for it: it is as large as what forward() spares.
  View unpooled(int batch, const View& dy) {
    const tensor::Shape one{spec_.out_height(), spec_.out_width(),
                            spec_.filters};
    if (!between_) between_ = device_.allocate(one.with_first(max_batch_));
    const View all = between_->view().at(0, one.with_first(batch));
    each(stream_, all.elements(),
         Unpooled{pooled(batch), all.as<float>(), dy.as<float>(), chosen(),
                  axes_[1].positions, axes_[2].positions});
    return all;
  }

  CudaDevice& device_;
  Stream& stream_;
  Conv2dSpec spec_;
  std::int64_t max_batch_;
  ConvAxes axes_;
  std::unique_ptr<Conv2d> exact_;
  std::unique_ptr<tensor::Buffer> chosen_;  // a byte each
  std::unique_ptr<tensor::Buffer> between_;
};

}  // namespace

std::unique_ptr<Conv2d> CudaDevice::conv2d_max_pool(const Conv2dSpec& spec,
                                                    std::int64_t max_batch) {
  check_max_pool(spec, max_batch);
  if (dnn_.precision() == Precision::kFloat32 &&
      has_few_channels(axes_of(volume_of(spec)), narrow(spec.channels),
                       narrow(spec.groups)))
    return std::make_unique<ConvMaxPool>(*this, spec, max_batch);
  return conv2d_then_max_pool(*this, spec, max_batch);
}

}  // namespace dl::device::cuda
