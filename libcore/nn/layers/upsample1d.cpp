// The layer type "upsample1d".

#include "libcore/nn/layers/parts/upsample.h"

namespace dl::nn::layers {

const LayerType& upsample1d() {
  static const LayerType type{
      .name = "upsample1d",
      .words = "Repeats each step of a series *size* times.",
      .other_names = {"upsampling1d"},
      .keys = {key::integer("size", "2", "Output steps for each input step.",
                            kSmall)},
      .reads_sequences = true,
      .infer = infer_upsample<2>,
      .make = make_mover<repeat>};
  return type;
}

}  // namespace dl::nn::layers
