// Max and average pooling.

#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::View;

class Pool2d final : public Layer {
 public:
  explicit Pool2d(const LayerSite& site)
      : site_(site),
        kernel_(site.device->pool2d(pool2d_spec(*site.config, site.input),
                                    site.max_batch)) {}

  View forward(View x, const Step& step) override {
    const View y = site_.result_of(step.examples);
    kernel_->forward(y, x, step.training);
    return y;
  }

  View backward(View dx, View dy, const Step&) override {
    kernel_->backward(dx, dy);
    return dx;
  }

 private:
  LayerSite site_;
  std::unique_ptr<tensor::Pool2d> kernel_;
};

}  // namespace

std::unique_ptr<Layer> make_pool2d(const LayerSite& site) {
  return std::make_unique<Pool2d>(site);
}

}  // namespace dl::nn
