// Convolution followed by max pooling, for devices without a fused version.

#include "libcore/device/conv2d_then_max_pool.h"

#include "libcore/device/check.h"

namespace dl::device {
namespace {
using tensor::View;

Pool2dSpec pool_of(const Conv2dSpec& conv) {
  Pool2dSpec pool;
  pool.height = conv.out_height();
  pool.width = conv.out_width();
  pool.channels = conv.filters;
  return pool;
}

class Conv2dThenMaxPool final : public Conv2d {
 public:
  Conv2dThenMaxPool(Device& device, const Conv2dSpec& spec,
                    std::int64_t max_batch)
      : device_(device),
        spec_(spec),
        max_batch_(max_batch),
        conv_(device.conv2d(spec, max_batch)),
        pool_(device.pool2d(pool_of(spec), max_batch)),
        between_(device.allocate(
            {max_batch, spec.out_height(), spec.out_width(), spec.filters},
            device.activations())) {}

  void forward(View y, View x, View w, View b) override {
    const View all = between(check_max_pool_images(spec_, max_batch_, x, y));
    // The largest does not depend on the bias, so the bias is added to fewer
    // values.
    conv_->forward(all, x, w, {});
    pool_->forward(y, all, true);
    if (!b.empty()) device_.add_bias(y, b);
    if (w.empty()) device_.activate(f_, y, y);
  }
  bool freeze(View w, View b, const ActivationSpec& f) override {
    f_ = f;
    return conv_->freeze(w, b, {});
  }
  void freeze_like(const Conv2d& other) override {
    const auto& twin = dynamic_cast<const Conv2dThenMaxPool&>(other);
    f_ = twin.f_;
    conv_->freeze_like(*twin.conv_);
  }
  void backward_data(View dx, View dy, View w) override {
    conv_->backward_data(dx, unpooled(dx, dy), w);
  }
  void backward_weights(View dw, View db, View x, View dy) override {
    conv_->backward_weights(dw, db, x, unpooled(x, dy));
  }

 private:
  View between(std::int64_t batch) const {
    const View all = between_->view();
    return all.at(0, all.shape.without_first().with_first(batch));
  }
  View unpooled(View x, View dy) {
    const View all = between(check_max_pool_images(spec_, max_batch_, x, dy));
    pool_->backward(all, dy);
    return all;
  }

  Device& device_;
  Conv2dSpec spec_;
  ActivationSpec f_;  // of a frozen one
  std::int64_t max_batch_;
  std::unique_ptr<Conv2d> conv_;
  std::unique_ptr<Pool2d> pool_;
  std::unique_ptr<tensor::Buffer> between_;  // the result, then its gradient
};

}  // namespace

std::unique_ptr<Conv2d> conv2d_then_max_pool(Device& device,
                                             const Conv2dSpec& spec,
                                             std::int64_t max_batch) {
  check_max_pool(spec, max_batch);
  return std::make_unique<Conv2dThenMaxPool>(device, spec, max_batch);
}

}  // namespace dl::device
