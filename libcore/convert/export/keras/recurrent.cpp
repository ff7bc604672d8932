// Recurrent layers and attention.

#include "libcore/nn/layers/parts/recurrent.h"

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

using nn::Bidirectional;
using Weights = KerasLayer::Weights;

// Gates of both are in one order: i, f, c, o and z, r, h.
Weights cell_weights(const KerasLayer& l, std::size_t first,
                     const std::string& path, bool two_biases) {
  Weights weights{{path + "vars/0", l.weight(first, {1, 0})},
                  {path + "vars/1", l.weight(first + 1, {1, 0})}};
  if (!l.settings.flag("bias")) return weights;
  KerasTensor bias = l.weight(first + 2);
  if (two_biases) {  // z, r, n of W, and 0, 0, m of R
    const std::int64_t units = l.settings.integer("units");
    const auto whole = static_cast<std::size_t>(3 * units);
    std::vector<float> last(bias.values.begin() + 3 * units, bias.values.end());
    bias.values.resize(whole);
    bias.values.resize(whole + static_cast<std::size_t>(2 * units), 0.0F);
    bias.values.insert(bias.values.end(), last.begin(), last.end());
    bias.shape = {2, 3 * units};
  }
  weights.emplace_back(path + "vars/2", bias);
  return weights;
}

Json cell_settings(const KerasLayer& l, bool reset_after, const char* type) {
  for (const char* key : {"activation", "gate_activation"})
    if (l.settings.has(key) && l.settings.text(key) == "hard_sigmoid")
      l.refuse("\"" + std::string(key) +
               "\": hard_sigmoid has a slope of 1/6 in Keras 3");
  Json config{{"units", l.settings.integer("units")},
              {"activation", l.activation("activation")},
              {"use_bias", l.settings.flag("bias")},
              {"return_sequences", l.settings.flag("return_sequences")}};
  if (l.settings.has("gate_activation"))
    config["recurrent_activation"] = l.activation("gate_activation");
  if (type == std::string("GRU")) config["reset_after"] = reset_after;
  // The output behind the last step is that of the last that counts anyway.
  if (l.masked() && l.settings.flag("return_sequences") &&
      !l.is_read_by("hold"))
    config["zero_output_for_mask"] = true;
  return config;
}

void recurrent(KerasLayer& l, const char* type) {
  if (l.is_on("peepholes"))
    l.refuse("\"peepholes\" have no counterpart in Keras");
  const bool behind = type == std::string("GRU") && !l.is_on("reset_before");
  Json config = cell_settings(l, behind, type);
  const auto merge = l.settings.one_of<Bidirectional>("bidirectional");
  if (merge == Bidirectional::kNone)
    return l.last(type, config, cell_weights(l, 0, "cell/", behind));
  static constexpr const char* kModes[] = {"", "concat", "sum", "mul", "ave"};
  Weights weights = cell_weights(l, 0, "forward_layer/cell/", behind);
  const std::size_t each = l.settings.flag("bias") ? 3 : 2;
  for (auto& weight : cell_weights(l, each, "backward_layer/cell/", behind))
    weights.push_back(std::move(weight));
  config["name"] = l.config.name + "_cell";
  l.add_training(type, config);
  l.last("Bidirectional",
         {{"merge_mode", kModes[static_cast<int>(merge)]},
          {"layer", keras_object(type, config)}},
         std::move(weights));
}

// Keras's recurrent layers of one direction do it themselves.
void hold(KerasLayer& l) {
  if (!l.masked()) return;
  const nn::LayerConfig* cell = l.before();
  if (cell == nullptr || !cell->type->recurrent ||
      cell->settings.one_of<Bidirectional>("bidirectional") !=
          Bidirectional::kNone)
    l.refuse(
        "Keras fills padding behind a recurrent layer of one direction alone");
}

void lstm(KerasLayer& l) { recurrent(l, "LSTM"); }
void gru(KerasLayer& l) { recurrent(l, "GRU"); }
void simple(KerasLayer& l) { recurrent(l, "SimpleRNN"); }

// Ours are matrices [heads size, width], and [width, heads size] of the output.
void attention(KerasLayer& l) {
  if (l.format == KerasFormat::kHdf5)
    l.refuse(
        "Keras 2 and 3 say its inputs in different ways; a .keras file can "
        "say it");
  const std::int64_t heads = l.settings.integer("heads");
  const std::int64_t size = l.settings.integer("head_size");
  const bool bias = l.settings.flag("bias");
  Weights weights;
  std::size_t at = 0;
  for (const char* name : {"query", "key", "value", "output"}) {
    const std::string path = std::string(name) + "_dense/vars/";
    const bool last = name == std::string("output");
    KerasTensor kernel = l.weight(at++, {1, 0});
    if (last)
      kernel.shape = {heads, size, kernel.shape[1]};
    else
      kernel.shape = {kernel.shape[0], heads, size};
    weights.emplace_back(path + "0", std::move(kernel));
    if (!bias) continue;
    KerasTensor offset = l.weight(at++);
    if (!last) offset.shape = {heads, size};
    weights.emplace_back(path + "1", std::move(offset));
  }
  l.last("MultiHeadAttention",
         {{"num_heads", heads}, {"key_dim", size}, {"use_bias", bias}},
         std::move(weights));
  KerasNode& node = l.nodes.back();
  if (node.inputs.size() == 1) node.inputs.push_back(node.inputs[0]);
  if (l.settings.flag("causal")) node.call["use_causal_mask"] = true;
}

}  // namespace

std::span<const KerasRule> keras_recurrent() {
  static constexpr KerasRule kRules[] = {
      {"lstm", lstm, true},
      {"gru", gru, true},
      {"simple_rnn", simple, true},
      {"hold", hold, true},
      {"multi_head_attention", attention, true}};
  return kRules;
}

}  // namespace dl::convert
