// Inverted dropout: in training each activation is kept with probability
// 1 - rate and then scaled by 1 / (1 - rate); otherwise it stays as it is.
//
// Whether an activation is kept follows from the network's seed, the name of
// the mini-batch, the layer and the place of the example in the mini-batch,
// never from the lane or host that computes it.

#include "libcore/base/philox.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Dropout final : public Layer {
 public:
  Dropout(const LayerSite& site, Memory& memory)
      : site_(site),
        rate_(site.settings->number("rate")),
        unscaled_(site.settings->has("unscaled") &&
                  site.settings->flag("unscaled")) {
    if (site.training)
      mask_ = memory.allocate(site.output.shape.with_first(site.max_batch));
  }

  void forward(const Flow& flow, const Step& step) override {
    const View x = flow.x[0];
    if (step.training) {
      draw(step);
      site_.device->multiply(flow.y, x, mask_.at(0, x.shape));
    } else if (flow.y.data != x.data) {
      site_.device->copy(flow.y, x);
    }
  }

  void backward(const Flow& flow, const Step&) override {
    site_.device->multiply(flow.dx[0], flow.dy, mask_.at(0, flow.dy.shape));
  }

 private:
  // Copies lie one behind another, here as in the whole mini-batch.
  void draw(const Step& step) {
    const tensor::Shape& example = site_.output.shape;
    const auto stream =
        mix({step.at.batch, static_cast<std::uint64_t>(site_.index)});
    for (std::int64_t copy = 0; copy < site_.output.copies; ++copy)
      site_.device->dropout_mask(
          mask_.at(copy * step.examples * example.elements(),
                   example.with_first(step.examples)),
          1 - rate_, site_.seed, stream,
          static_cast<std::uint64_t>((copy * step.total + step.first) *
                                     example.elements()));
    if (unscaled_)
      site_.device->scale(
          mask_.at(0, example.with_first(step.examples * site_.output.copies)),
          1 - rate_);
  }

  LayerSite site_;
  double rate_;
  bool unscaled_;
  View mask_;
};

LayerShape infer_dropout(const LayerSettings&,
                         std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = false,
                      .keeps_output = false},
          .step_by_step = true};
}

}  // namespace

const LayerType& dropout() {
  static const LayerType type{
      .name = "dropout",
      .words =
          "In training, drops each number with probability *rate* and "
          "multiplies the\n"
          "others by 1 / (1 - rate).\n"
          "The choice depends only on *seed*, the mini-batch and the layer.",
      .keys = {key::number("rate", "0.5",
                           "The share of inputs that is dropped.", kShare),
               key::flag("unscaled", "(false)",
                         "Does not scale the others, as in the corruption of "
                         "an autoencoder's input.")},
      .disturbs = true,
      .infer = infer_dropout,
      .make = make<Dropout>};
  return type;
}

}  // namespace dl::nn::layers
