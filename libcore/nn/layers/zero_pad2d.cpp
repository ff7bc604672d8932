// The layer type "zero_pad2d".

#include "libcore/nn/layers/parts/zero_pad.h"

namespace dl::nn::layers {

const LayerType& zero_pad2d() {
  static const LayerType type{
      .name = "zero_pad2d",
      .words = "Zeros around an image.",
      .other_names = {"zeropadding2d", "zeropadding"},
      .keys = {key::tuple("padding", "[1, 1, 1, 1]", "Pixels at each side.",
                          "[top, bottom, left, right]", "0..65535")},
      .infer = infer_zero_pad<3>,
      .make = make_mover<pad>};
  return type;
}

}  // namespace dl::nn::layers
