// The layer type "unstack".

#include "libcore/nn/layers/parts/stack.h"

namespace dl::nn::layers {

const LayerType& unstack() {
  static const LayerType type{
      .name = "unstack",
      .words = "One of the inputs of a preceding *stack*.",
      .other_names = {"unstackvertex"},
      .keys = {key::integer("index", "0", "Index of the input, from 0.",
                            "0..65534"),
               key::integer("of", "(none)",
                            "Number of parts of the stack; else the number of "
                            "inputs that were stacked.",
                            kSmall)},
      .infer = infer_unstack,
      .make = make<Unstack>};
  return type;
}

}  // namespace dl::nn::layers
