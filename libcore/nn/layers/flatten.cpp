// Any shape to one dimension, in row-major order: only the shape changes.

#include "libcore/nn/layer.h"
#include "libcore/nn/layer_type.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Flatten final : public Layer {
 public:
  Flatten(const LayerSite& site, Memory&) : site_(site) {}

  View forward(View x, const Step&) override {
    return x.reshaped(site_.output.with_first(x.shape[0]));
  }

  View backward(View, View dy, const Step&) override {
    return dy.reshaped(site_.input.with_first(dy.shape[0]));
  }

 private:
  LayerSite site_;
};

Blueprint plan(const Settings&, std::span<const Form> inputs) {
  return {.output = {{inputs[0].shape.elements()}, false}};
}

}  // namespace

const LayerType& flatten() {
  static const LayerType type{.name = "flatten",
                              .room = Room::kNever,
                              .plan = plan,
                              .make = make<Flatten>};
  return type;
}

}  // namespace dl::nn::layers
