// The layer type "dot".

#include "libcore/nn/layers/parts/dot.h"

namespace dl::nn::layers {

const LayerType& dot() {
  static const LayerType type{
      .name = "dot",
      .words =
          "The scalar product of two inputs of one shape, along their last "
          "dimension,\n"
          "which becomes 1.",
      .other_names = {"dotproduct"},
      .inputs = {2, 2},
      .infer = infer_dot,
      .make = make<Dot>};
  return type;
}

}  // namespace dl::nn::layers
