// The layer type "reverse".

#include "libcore/nn/layers/parts/chosen_steps.h"

namespace dl::nn::layers {

const LayerType& reverse() {
  static const LayerType type{
      .name = "reverse",
      .words =
          "The steps of a sequence from the last to the first; padding stays "
          "in its place.",
      .other_names = {"reversetimeseries", "flip"},
      .keys = {key::one_of("turns", R"(("counted"))",
                           "The steps that count; all, their padding with "
                           "them; or the mask alone.",
                           names_of<Turned>())},
      .reads_sequences = true,
      .infer = infer_chosen_steps<false>,
      .make = make<Reverse>};
  return type;
}

}  // namespace dl::nn::layers
