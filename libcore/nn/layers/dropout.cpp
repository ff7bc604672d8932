// Inverted dropout: in training each activation is kept with probability
// 1 - rate and then scaled by 1 / (1 - rate); otherwise x is handed on.
//
// Whether an activation is kept follows from the network's seed, the name of
// the mini-batch, the layer and the place of the example in the mini-batch,
// never from the lane or host that computes it.

#include "libcore/base/philox.h"
#include "libcore/nn/keys.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layer_type.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Dropout final : public Layer {
 public:
  Dropout(const LayerSite& site, Memory& memory)
      : site_(site), rate_(site.settings->number("rate")) {
    if (site.training)
      mask_ = memory.allocate(site.output.with_first(site.max_batch));
  }

  View forward(View x, const Step& step) override {
    if (!step.training) return x;
    const View y = site_.result_of(step.examples);
    const auto layer = static_cast<std::uint64_t>(site_.index);
    site_.device->dropout_mask(
        mask_of(step), 1 - rate_, site_.seed, mix({step.at.batch, layer}),
        static_cast<std::uint64_t>(step.first * site_.output.elements()));
    site_.device->multiply(y, x, mask_of(step));
    return y;
  }

  View backward(View, View dy, const Step& step) override {
    site_.device->multiply(dy, dy, mask_of(step));
    return dy;
  }

 private:
  View mask_of(const Step& step) const {
    return mask_.at(0, site_.output.with_first(step.examples));
  }

  LayerSite site_;
  double rate_;
  View mask_;
};

Blueprint plan(const Settings&, std::span<const Form> inputs) {
  return {.output = inputs[0]};
}

}  // namespace

const LayerType& dropout() {
  static const LayerType type{
      .name = "dropout",
      .keys = {key::number("rate", "0.5",
                           "The share of inputs that is dropped.", kShare)},
      .room = Room::kInTraining,
      .plan = plan,
      .make = make<Dropout>};
  return type;
}

}  // namespace dl::nn::layers
