// The layer type "crop1d".

#include "libcore/nn/layers/parts/crop.h"

namespace dl::nn::layers {

const LayerType& crop1d() {
  static const LayerType type{
      .name = "crop1d",
      .words = "A series without its first and last steps.",
      .other_names = {"cropping1d"},
      .keys = {key::tuple("cropping", "[1, 1]", "Steps removed at each end.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .infer = infer_crop<2>,
      .make = make_mover<crop>};
  return type;
}

}  // namespace dl::nn::layers
