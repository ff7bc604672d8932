// The layer type "crop2d".

#include "libcore/nn/layers/parts/crop.h"

namespace dl::nn::layers {

const LayerType& crop2d() {
  static const LayerType type{
      .name = "crop2d",
      .words = "An image without its edges.",
      .other_names = {"cropping2d"},
      .keys = {key::tuple("cropping", "[1, 1, 1, 1]",
                          "Pixels removed at each side.",
                          "[top, bottom, left, right]", "0..65535")},
      .infer = infer_crop<3>,
      .make = make_mover<crop>};
  return type;
}

}  // namespace dl::nn::layers
