// Batch normalisation over all but the last dimension.
//
// In training, mean and variance (of the population: divided by the count) are
// those of the whole mini-batch, over all lanes; the running statistics move
// by running = decay * running + (1 - decay) * batch.  Elsewhere the running
// ones are used, folded into the layer before where that can take them.

#include "libcore/nn/layer.h"

namespace dl::nn {
namespace {

using tensor::View;

class BatchNorm final : public Layer {
 public:
  BatchNorm(const LayerSite& site, Memory& memory) : site_(site) {
    if (!site.training) return;
    const std::int64_t c = site.output.back();
    mean_ = memory.allocate({c});
    variance_ = memory.allocate({c});
    sums_ = memory.allocate({2 * c});
    sum_dy_xhat_ = sums_.at(0, {c});
    sum_dy_ = sums_.at(c, {c});
  }

  bool collective() const override { return true; }

  void freeze(Layer* before) override {
    absorbed_ = before != nullptr &&
                before->absorb(scaling_of(*site_.device, site_.mean,
                                          site_.variance, site_.weight,
                                          site_.bias, site_.config->epsilon));
  }

  View forward(View x, const Step& step) override {
    if (absorbed_) return x;
    // Compiled for prediction, it has no room for a result of its own.
    const View y = site_.training ? site_.result_of(step.examples) : x;
    if (!step.training) {
      normalise(y, x, site_.mean, site_.variance);
      return y;
    }
    x_ = x;
    measure(step);
    if (step.examples > 0) normalise(y, x, mean_, variance_);
    if (site_.keeps_statistics) {
      move(site_.mean, mean_);
      move(site_.variance, variance_);
    }
    return y;
  }

  View backward(View dx, View dy, const Step& step) override {
    tensor::Device& device = *site_.device;
    const double epsilon = site_.config->epsilon;
    if (step.examples > 0)
      device.batch_norm_sums(sum_dy_xhat_, sum_dy_, dy, x_, mean_, variance_,
                             epsilon);
    else
      device.fill(sums_, 0);
    device.copy(site_.weight_gradient, sum_dy_xhat_);
    device.copy(site_.bias_gradient, sum_dy_);
    if (dx.empty()) return dx;
    step.lanes->all_reduce(sums_);
    if (step.examples > 0)
      device.batch_norm_gradient(dx, dy, x_, mean_, variance_, site_.weight,
                                 sum_dy_, sum_dy_xhat_, count(step), epsilon);
    return dx;
  }

 private:
  // Values of a channel in the mini-batch.
  double count(const Step& step) const {
    const std::int64_t values =
        step.total * (site_.output.elements() / site_.output.back());
    return static_cast<double>(values);
  }

  void measure(const Step& step) {
    tensor::Device& device = *site_.device;
    const bool some = step.examples > 0;
    some ? device.sum_rows(mean_, x_) : device.fill(mean_, 0);
    step.lanes->all_reduce(mean_);
    device.scale(mean_, 1 / count(step));
    some ? device.sum_squares_about(variance_, x_, mean_)
         : device.fill(variance_, 0);
    step.lanes->all_reduce(variance_);
    device.scale(variance_, 1 / count(step));
  }

  void normalise(View y, View x, View mean, View variance) {
    site_.device->batch_norm(y, x, mean, variance, site_.weight, site_.bias,
                             site_.config->epsilon);
  }

  void move(View running, View batch) {
    site_.device->scale(running, site_.config->decay);
    site_.device->add(running, 1 - site_.config->decay, batch);
  }

  LayerSite site_;
  bool absorbed_ = false;  // the layer before does this one's work
  View mean_, variance_;   // of this mini-batch
  View sums_, sum_dy_xhat_, sum_dy_;
  View x_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm(const LayerSite& site, Memory& memory) {
  return std::make_unique<BatchNorm>(site, memory);
}

}  // namespace dl::nn
