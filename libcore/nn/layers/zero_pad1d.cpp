// The layer type "zero_pad1d".

#include "libcore/nn/layers/parts/zero_pad.h"

namespace dl::nn::layers {

const LayerType& zero_pad1d() {
  static const LayerType type{
      .name = "zero_pad1d",
      .words =
          "Steps of zeros before and after a series; its mask counts them as "
          "real steps.",
      .other_names = {"zeropadding1d"},
      .keys = {key::tuple("padding", "[1, 1]", "Steps at each end.",
                          "[begin, end]", "0..65535")},
      .reads_sequences = true,
      .infer = infer_zero_pad<2>,
      .make = make_mover<pad>};
  return type;
}

}  // namespace dl::nn::layers
