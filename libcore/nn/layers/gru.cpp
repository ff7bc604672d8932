// Gated recurrent units; tensor/recurrent.h has the formulas.

#include "libcore/nn/layers/recurrent.h"

namespace dl::nn::layers {

const LayerType& gru() {
  static const LayerType type = recurrent_type<tensor::Cell::kGru>("gru");
  return type;
}

}  // namespace dl::nn::layers
