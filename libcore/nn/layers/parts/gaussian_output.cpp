// The output of the loss gaussian: means and log variances.

#include "libcore/nn/layers/parts/gaussian_output.h"

#include <optional>

#include "libcore/nn/layers/parts/fused_activation.h"
#include "libcore/nn/layers/parts/linear.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn::layers {
namespace {

using device::Strided;
using tensor::View;

class GaussianOutput final : public OutputLayer {
 public:
  GaussianOutput(const LayerSite& site, Memory& memory)
      : device_(site.device),
        units_(site.settings->integer("units")),
        activation_(with_both(site), site.settings->activation("activation"),
                    memory),
        loss_(site, memory) {
    if (!site.parameters.empty()) linear_.emplace(site);
    const tensor::Shape both{
        site.max_batch * (site.output.shape.elements() / units_), 2 * units_};
    both_ = memory.allocate(both);
    if (site.training) gradient_ = memory.allocate(both);
  }

  void freeze() override {
    if (linear_) frozen_ = linear_->freeze({}, {});
  }

  void freeze_like(Layer& twin) override {
    const auto& other = static_cast<GaussianOutput&>(twin);
    if (!other.frozen_) return freeze();
    linear_->freeze_like(*other.linear_);
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    y_ = flow.y;
    const std::int64_t rows = flow.y.elements() / units_;
    const View both = both_.at(0, {rows, 2 * units_});
    if (linear_)
      linear_->forward(both, flow.x[0], step);
    else
      device_->copy(both, flow.x[0].reshaped(both.shape));
    activation_.forward(both, step.training);
    device_->copy_strided(means(rows), flow.y, both, false);
  }

  // y is the output, or that of a part of the examples.
  void loss(View grad, View y, View target, View mask, double scale) override {
    const std::int64_t rows = y.shape[0];
    const std::int64_t first =
        (y.data - y_.data) / static_cast<std::int64_t>(size_of(y.dtype));
    const View both = both_.at(2 * first, {rows, 2 * units_});
    View slopes;
    if (!grad.empty()) slopes = gradient_.at(2 * first, both.shape);
    loss_.compute(slopes, both, target, mask, scale);
    if (!grad.empty()) device_->copy_strided(means(rows), grad, slopes, false);
  }

  // Others may have added to the gradient of the means.
  void backward(const Flow& flow, const Step& step) override {
    const std::int64_t rows = flow.dy.elements() / units_;
    const View both = both_.at(0, {rows, 2 * units_}),
               slopes = gradient_.at(0, both.shape);
    device_->copy_strided(means(rows).exchanged(), slopes, flow.dy, false);
    activation_.backward(slopes, both);
    const View dx = flow.dx[0];
    if (linear_)
      linear_->backward(dx, slopes, flow.x[0], step);
    else if (!dx.empty())
      device_->copy(dx.reshaped(both.shape), slopes);
  }

 private:
  static LayerSite with_both(LayerSite site) {
    site.max_batch *= 2;
    return site;
  }
  // Where the means lie among both.
  Strided means(std::int64_t rows) const {
    return Strided().over(rows, units_, 2 * units_).over(units_, 1, 1);
  }

  device::Device* device_;
  std::int64_t units_;
  std::optional<Linear> linear_;
  FusedActivation activation_;
  OutputLoss loss_;
  View both_, gradient_;  // [rows, 2 units]
  View y_;                // of the last forward()
  bool frozen_ = false;
};

}  // namespace

bool is_gaussian(const LayerSettings& settings) {
  return settings.loss("loss").kind == device::Loss::kGaussian;
}

LayerSettings doubled(const LayerSettings& settings) {
  LayerSettings both = settings;
  both.set("units", 2 * settings.integer("units"));
  return both;
}

ValueSpec halved(ValueSpec form) {
  const auto all = form.shape.extents();
  std::vector<std::int64_t> extents(all.begin(), all.end());
  extents.back() /= 2;
  form.shape = tensor::Shape(std::span<const std::int64_t>(extents));
  return form;
}

LayerConfig with_variances(const LayerConfig& layer) {
  if (layer.type->output == nullptr || !is_gaussian(layer.settings))
    return layer;
  LayerConfig both = layer;
  both.type = &layer_type(layer.type->trains == Trains::kNothing ? "activation"
                                                                 : "dense");
  both.settings = doubled(layer.settings);
  return both;
}

std::unique_ptr<Layer> make_gaussian_output(const LayerSite& site,
                                            Memory& memory) {
  return std::make_unique<GaussianOutput>(site, memory);
}

}  // namespace dl::nn::layers
