// The plain recurrent layer; tensor/recurrent.h has the formulas.

#include "libcore/nn/layers/recurrent.h"

namespace dl::nn::layers {

const LayerType& simple_rnn() {
  static const LayerType type =
      recurrent_type<tensor::Cell::kSimple>("simple_rnn");
  return type;
}

}  // namespace dl::nn::layers
