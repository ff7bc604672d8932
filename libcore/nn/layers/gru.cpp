// Gated recurrent units; tensor/recurrent.h has the formulas.

#include "libcore/nn/layers/recurrent.h"

namespace dl::nn::layers {

const LayerType& gru() {
  static const LayerType type = recurrent_type<tensor::Cell::kGru>(
      "gru",
      "Gated recurrent units; the formulas stand in *dl-network*(5), "
      "SEQUENCES.");
  return type;
}

}  // namespace dl::nn::layers
