// The layer type "last_step".

#include "libcore/nn/layers/parts/chosen_steps.h"

namespace dl::nn::layers {

const LayerType& last_step() {
  static const LayerType type{.name = "last_step",
                              .words =
                                  "The last step of a sequence that is not "
                                  "padding; the first step if all are padding.",
                              .other_names = {"lasttimestep"},
                              .reads_sequences = true,
                              .infer = infer_chosen_steps<true>,
                              .make = make<LastStep>};
  return type;
}

}  // namespace dl::nn::layers
