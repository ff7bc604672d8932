// The layer type "hold".

#include "libcore/nn/layers/parts/chosen_steps.h"

namespace dl::nn::layers {

const LayerType& hold() {
  static const LayerType type{
      .name = "hold",
      .words =
          "Replaces each padding step of a sequence by the last real step "
          "before it;\n"
          "padding before the first real step stays unchanged.\n"
          "Keras's recurrent layers fill padding in this way, and other layers "
          "of Keras read it.",
      .reads_sequences = true,
      .infer = infer_chosen_steps<false>,
      .make = make<Hold>};
  return type;
}

}  // namespace dl::nn::layers
