// The plain recurrent layer; tensor/recurrent.h has the formulas.

#include "libcore/nn/layers/recurrent.h"

namespace dl::nn::layers {
namespace {

constexpr tensor::Cell kCell = tensor::Cell::kSimple;

}  // namespace

const LayerType& simple_rnn() {
  static const LayerType type{
      .name = "simple_rnn",
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
