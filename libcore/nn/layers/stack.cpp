// The layer type "stack".

#include "libcore/nn/layers/parts/stack.h"

namespace dl::nn::layers {

const LayerType& stack() {
  static const LayerType type{.name = "stack",
                              .words =
                                  "Concatenates inputs of one shape along the "
                                  "mini-batch: later layers treat each as an\n"
                                  "example of its own.",
                              .other_names = {"stackvertex"},
                              .inputs = {1, kAnyNumber},
                              .infer = infer_stack,
                              .make = make<Stack>};
  return type;
}

}  // namespace dl::nn::layers
