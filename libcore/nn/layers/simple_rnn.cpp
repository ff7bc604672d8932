// The plain recurrent layer; device/api/recurrent.h has the formulas.

#include "libcore/nn/layers/parts/recurrent.h"

namespace dl::nn::layers {

const LayerType& simple_rnn() {
  static const LayerType type = recurrent_type<device::Cell::kSimple>(
      "simple_rnn",
      "A plain recurrent layer; the formula stands in *dl-network*(5), "
      "SEQUENCES.");
  return type;
}

}  // namespace dl::nn::layers
