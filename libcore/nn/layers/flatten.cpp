// Any shape to one dimension, in row-major order: only the shape changes.

#include "libcore/nn/config/layer_type.h"

namespace dl::nn::layers {
namespace {

LayerShape infer_flatten(const LayerSettings&,
                         std::span<const ValueSpec> inputs) {
  return {.output = {{inputs[0].shape.elements()}, false, inputs[0].copies},
          .buffers = {.alias = true}};
}

}  // namespace

const LayerType& flatten() {
  static const LayerType type{
      .name = "flatten",
      .words = "Flattens any shape to one dimension, in row-major order.",
      .infer = infer_flatten};
  return type;
}

}  // namespace dl::nn::layers
