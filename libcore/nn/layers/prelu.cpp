// Rectified linear units whose slope below 0 is learnt (He et al. 2015).

#include <array>

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

class Prelu final : public Layer {
 public:
  Prelu(const LayerSite& site, Memory&) : site_(site) {
    for (tensor::View* v : {&slope_, &gradient_}) {
      *v = v == &slope_ ? site.parameter(0) : site.gradient(0);
      if (!v->empty()) *v = v->reshaped({v->elements()});
    }
  }

  void forward(const Flow& flow, const Step&) override {
    site_.device->prelu(flow.y, flow.x[0], slope_);
  }

  void backward(const Flow& flow, const Step&) override {
    site_.device->prelu_gradient(flow.dx[0], gradient_, flow.dy, flow.x[0],
                                 slope_);
  }

 private:
  LayerSite site_;
  tensor::View slope_, gradient_;
};

LayerShape infer_prelu(const LayerSettings& settings,
                       std::span<const ValueSpec> inputs) {
  const tensor::Shape& shape = inputs[0].shape;
  const bool all = settings.text("slopes") == "element";
  return {.output = inputs[0],
          .parameters = {{.name = "slope",
                          .shape = all ? shape : tensor::Shape{shape.back()},
                          .role = Role::kOther,
                          .start = settings.number("slope")}},
          .flops = numbers_in(shape),
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_output = false},
          .step_by_step = !all};
}

}  // namespace

const LayerType& prelu() {
  static constexpr std::array<std::string_view, 2> kSlopes{"channel",
                                                           "element"};
  static const LayerType type{
      .name = "prelu",
      .words =
          "x, or s x for x < 0, with a learnt slope s (He et al. 2015): one "
          "for each index of\n"
          "the last dimension, or for each number of an example.",
      .keys = {key::one_of("slopes", R"("channel")",
                           "Unit that has a slope of its own.", kSlopes),
               key::number("slope", "0.25", "Initial value of the slopes.",
                           kAny)},
      .trains = Trains::kOthers,
      .infer = infer_prelu,
      .make = make<Prelu>};
  return type;
}

}  // namespace dl::nn::layers
