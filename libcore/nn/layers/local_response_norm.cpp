// Local response normalization, over the last dimension.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

class LocalResponseNorm final : public Layer {
 public:
  LocalResponseNorm(const LayerSite& site, Memory&)
      : device_(site.device),
        spec_{.window = site.settings->integer("window"),
              .k = site.settings->number("k"),
              .alpha = site.settings->number("alpha"),
              .beta = site.settings->number("beta")} {}

  void forward(const Flow& flow, const Step&) override {
    device_->local_norm(spec_, flow.y, flow.x[0]);
  }
  void backward(const Flow& flow, const Step&) override {
    device_->local_norm_gradient(spec_, flow.dx[0], flow.dy, flow.x[0]);
  }

 private:
  device::Device* device_;
  device::LocalNorm spec_;
};

void check_local_response_norm(const LayerSettings& settings,
                               const Complaint& complain) {
  const std::int64_t window = settings.integer("window");
  if (window % 2 == 0)
    complain("window", "want an odd number, got " + std::to_string(window));
}

LayerShape infer_local_response_norm(const LayerSettings& settings,
                                     std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .flops = numbers_in(inputs[0].shape) *
                   static_cast<double>(settings.integer("window") + 3),
          .buffers = {.keeps_output = false}};
}

}  // namespace

const LayerType& local_response_norm() {
  static const LayerType type{
      .name = "local_response_norm",
      .words =
          "y = x / (k + alpha s)^beta, where s is the sum of x^2 over the "
          "*window* channels\n"
          "around each, as far as they exist.\n"
          "PyTorch's alpha is *window* times this one.",
      .other_names = {"localresponsenormalization", "lrn"},
      .keys = {key::integer("window", "5", "Channels of the sum, odd.",
                            "1..129"),
               key::number("k", "2", "Keeps the divisor from zero.", kOver0),
               key::number("alpha", "1e-4", "Factor of the sum.", kAtLeast0),
               key::number("beta", "0.75", "The exponent.", kAtLeast0)},
      .check = check_local_response_norm,
      .infer = infer_local_response_norm,
      .make = make<LocalResponseNorm>};
  return type;
}

}  // namespace dl::nn::layers
