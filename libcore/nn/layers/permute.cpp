// The layer type "permute".

#include "libcore/nn/layers/parts/reshape.h"

namespace dl::nn::layers {

const LayerType& permute() {
  static const LayerType type{
      .name = "permute",
      .words =
          "The axes of an example in another order: [1, 0] transposes a "
          "matrix.\n"
          "A sequence stays a sequence if its steps stay first.",
      .other_names = {"transpose"},
      .keys = {axes_key()},
      .check = check_axes,
      .infer = infer_permute,
      .make = make<Permute>};
  return type;
}

}  // namespace dl::nn::layers
