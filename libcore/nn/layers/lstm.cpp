// Long short-term memory; device/api/recurrent.h has the formulas.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/recurrent.h"

namespace dl::nn::layers {
namespace {

constexpr device::Cell kCell = device::Cell::kLstm;

std::vector<Key> lstm_keys() {
  std::vector<Key> keys = recurrent_keys(kCell);
  keys.push_back(key::number("forget_bias_init", "1",
                             "Initial value of the biases of forget gates.",
                             kAny));
  keys.push_back(key::flag("peepholes", "(false)",
                           "Lets gates see the cell's state (Graves 2013)."));
  return keys;
}

LayerShape infer_lstm(const LayerSettings& settings,
                      std::span<const ValueSpec> inputs) {
  LayerShape plan = infer_recurrent(kCell, settings, inputs[0]);
  const std::int64_t units = settings.integer("units");
  for (TensorSpec& tensor : plan.parameters)
    if (tensor.role == Role::kBias)  // i, f, g, o
      tensor.part = {units, units, settings.number("forget_bias_init")};
  return plan;
}

}  // namespace

const LayerType& lstm() {
  static const LayerType type = [] {
    LayerType lstm =
        recurrent_type<kCell>("lstm",
                              "Long short-term memory; the formulas stand in "
                              "*dl-network*(5), SEQUENCES.");
    lstm.keys = lstm_keys();
    lstm.infer = infer_lstm;
    return lstm;
  }();
  return type;
}

}  // namespace dl::nn::layers
