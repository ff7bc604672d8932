// Gated recurrent units; tensor/recurrent.h has the formulas.

#include "libcore/nn/layers/recurrent.h"

namespace dl::nn::layers {
namespace {

constexpr tensor::Cell kCell = tensor::Cell::kGru;

}  // namespace

const LayerType& gru() {
  static const LayerType type{
      .name = "gru",
      .keys = recurrent_keys(kCell),
      .trains = Trains::kRecurrentWeights,
      .recurrent = true,
      .plan =
          [](const Settings& settings, std::span<const Form> inputs) {
            return plan_recurrent(kCell, settings, inputs[0]);
          },
      .make =
          [](const LayerSite& site, Memory& memory) {
            return make_recurrent(kCell, site, memory);
          }};
  return type;
}

}  // namespace dl::nn::layers
