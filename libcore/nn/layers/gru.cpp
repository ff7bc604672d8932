// Gated recurrent units; device/api/recurrent.h has the formulas.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/recurrent.h"

namespace dl::nn::layers {

const LayerType& gru() {
  static const LayerType type = [] {
    LayerType gru = recurrent_type<device::Cell::kGru>(
        "gru",
        "Gated recurrent units; the formulas stand in *dl-network*(5), "
        "SEQUENCES.");
    gru.keys.push_back(
        key::flag("reset_before", "(false)",
                  "Lets the reset gate act before the product with the "
                  "recurrent weights, not behind it."));
    return gru;
  }();
  return type;
}

}  // namespace dl::nn::layers
