// The layer type "repeat_like".

#include "libcore/nn/layers/parts/repeat.h"

namespace dl::nn::layers {

const LayerType& repeat_like() {
  static const LayerType type{.name = "repeat_like",
                              .words =
                                  "Repeats the first input, a vector, at each "
                                  "step of the second, with the second's mask.",
                              .other_names = {"duplicatetotimeseries"},
                              .reads_sequences = true,
                              .inputs = {2, 2},
                              .infer = infer_like,
                              .make = make<Repeat>};
  return type;
}

}  // namespace dl::nn::layers
