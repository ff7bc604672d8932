// LSTM, GRU and SimpleRNN, in one direction and in both.
//
// Keras has the inputs of its matrices first; the order of gates is the same
// (dl-network(5), Weights).  A GRU with reset_after has two biases of each
// gate.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/compiled.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"
#include "libcore/device/api/activation.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

// A recurrent layer, or one direction of one.
struct Cell {
  std::string type;  // "lstm"
  std::int64_t units = 0, gates = 1;
  bool bias = true, reset_after = false;
  // Keras 3's hard_sigmoid is that of cells here of so many times its input.
  double gate_scale = 1;
  std::int64_t biases() const { return gates * units; }
};

std::string type_of(const Site& site, const std::string& class_name) {
  if (class_name == "LSTM" || class_name == "LSTMCell") return "lstm";
  if (class_name == "GRU" || class_name == "GRUCell") return "gru";
  if (class_name == "SimpleRNN" || class_name == "SimpleRNNCell")
    return "simple_rnn";
  site.refuse("its cell is of the class " + in_quotes(class_name) +
              "; LSTM, GRU or SimpleRNN would be needed");
}

Json gate_activation(const Site& site) {
  const Site::Keys keys = {"recurrent_activation", "inner_activation"};
  return site.has(keys) ? site.view(keys).raw()
                        : Json(site.dialect().recurrent_activation());
}

Cell cell_of(const Site& site, const std::string& class_name) {
  Cell cell;
  cell.type = type_of(site, class_name);
  cell.units = site.integer({"units", "output_dim"}, 1, 2147483647);
  cell.gates = cell.type == "lstm" ? 4 : cell.type == "gru" ? 3 : 1;
  cell.bias = site.flag({"use_bias"}, true);
  cell.reset_after = cell.type == "gru" &&
                     site.flag({"reset_after"}, site.dialect().reset_after());
  if (cell.type != "simple_rnn") {
    const auto gates = activation_of(gate_activation(site), site.dialect());
    if (gates && gates->is_object() &&
        gates->value("type", "") == "hard_sigmoid")
      cell.gate_scale = gates->value("slope", 0.0) / device::kCellSlope;
  }
  return cell;
}

// Functions of a cell are few, and its hard_sigmoid is that of Keras 2: that of
// Keras 3 is the same of gates whose weights are smaller.
Json cell_activation(const Site& site, const Json& given, bool of_gates) {
  const auto ours = activation_of(given, site.dialect());
  constexpr const char* kKnown[] = {"identity", "relu",      "sigmoid",
                                    "tanh",     "hard_tanh", "softsign"};
  if (ours && ours->is_object() && ours->value("type", "") == "hard_sigmoid" &&
      (of_gates || ours->value("slope", 0.0) == device::kCellSlope))
    return "hard_sigmoid";
  if (ours && ours->is_string() &&
      std::ranges::find(kKnown, ours->get<std::string>()) != std::end(kKnown))
    return *ours;
  const std::string name = class_of(given);
  site.refuse("its cell has the activation " +
              in_quotes(name.empty() ? dump_json(given) : name) +
              "; one of identity, relu, sigmoid, tanh, hard_tanh and softsign "
              "would be needed");
}

// The computation of a cell, as keys of a node.
Json function_of(const Site& site, const Cell& cell) {
  Json node{{"type", cell.type}, {"units", cell.units}, {"bias", cell.bias}};
  node["activation"] = cell_activation(
      site, site.has({"activation"}) ? site.view({"activation"}).raw() : "tanh",
      false);
  if (cell.type != "simple_rnn")
    node["gate_activation"] =
        cell_activation(site, gate_activation(site), true);
  if (cell.type == "gru") node["reset_before"] = !cell.reset_after;
  node["return_sequences"] = site.flag({"return_sequences"}, false);
  return node;
}

Json node_of(const Site& site, const Cell& cell) {
  Json node = function_of(site, cell);
  if (cell.type == "lstm")
    node["forget_bias_init"] = site.flag({"unit_forget_bias"}, true) ? 1 : 0;
  if (cell.gate_scale != 1)
    site.note(
        "its gates have the hard_sigmoid of Keras 3: here their weights are "
        "5/6 of those there, which learn at a rate that is larger by as much");
  site.add_training(node, "kernel");
  for (const char* key : {"dropout", "recurrent_dropout"})
    if (site.number({key}, 0) > 0)
      site.note(std::string("its ") + key + " is left out");
  if (site.flag({"stateful"}, false))
    site.note("it is stateful: here each sequence starts anew");
  if (site.flag({"return_state"}, false))
    site.refuse(
        "it returns its state; an output of a cell's state would be "
        "needed, or no return_state where nothing reads it");
  if (site.flag({"time_major"}, false)) site.refuse("it is time_major");
  return node;
}

// With the rows of gates, which all but the candidate's are, times a number.
Fill with_gates(const Cell& cell, Fill fill, std::size_t blocks) {
  if (cell.gate_scale == 1) return fill;
  return [=, scale = static_cast<float>(cell.gate_scale),
          lstm = cell.type == "lstm"](std::span<float> to) {
    fill(to);
    const std::size_t size = to.size() / blocks;
    for (std::size_t i = 0; i < to.size(); ++i)
      if (i < 2 * size || (lstm && i >= 3 * size)) to[i] *= scale;
  };
}

// Rows p and q of a GRU's two biases: p + q of z and r, p of n, q of n.
Fill joined_biases(const Array& bias, std::int64_t units) {
  return [bias, n = static_cast<std::size_t>(units)](std::span<float> to) {
    const auto p = bias.values.first(3 * n), q = bias.values.subspan(3 * n);
    for (std::size_t i = 0; i < 2 * n; ++i) to[i] = p[i] + q[i];
    std::ranges::copy(p.subspan(2 * n), to.subspan(2 * n).begin());
    std::ranges::copy(q.subspan(2 * n), to.subspan(3 * n).begin());
  };
}

// The weights of one direction, under the prefix "" or "backward_".
void fill_direction(Site& site, const Cell& cell, std::int64_t inputs,
                    const std::string& below, const std::string& prefix) {
  const std::int64_t rows = cell.gates * cell.units;
  std::vector<Shape> shapes = {{inputs, rows}, {cell.units, rows}};
  if (cell.bias && cell.reset_after) shapes.push_back({2, rows});
  if (cell.bias && !cell.reset_after) shapes.push_back({rows});
  const auto arrays = site.take(below, shapes);
  const auto gates = static_cast<std::size_t>(cell.gates);
  site.fill(prefix + "weight", with_gates(cell, last_first(arrays[0]), gates));
  site.fill(prefix + "recurrent_weight",
            with_gates(cell, last_first(arrays[1]), gates));
  if (!cell.bias) return;
  site.fill(prefix + "bias",
            cell.reset_after
                ? with_gates(cell, joined_biases(arrays[2], cell.units), 4)
                : with_gates(cell, as_is(arrays[2]), gates));
}

Flow reversed(Site& site, const Flow& value, bool padding) {
  Json node{{"type", "reverse"}};
  if (padding) node["turns"] = "all";
  return site.add("reversed", std::move(node), {value});
}

Flow sequence_of(Site& site) {
  if (site.each_step())
    site.refuse(
        "it is in a TimeDistributed; one dimension of time would be "
        "needed");
  return site.as_keras(site.only());
}

Flow one_direction(Site& site, const Cell& cell) {
  Flow value = sequence_of(site);
  Json node = node_of(site, cell);
  const bool backwards = site.flag({"go_backwards"}, false);
  const bool sequences = site.flag({"return_sequences"}, false);
  const bool zero = site.flag({"zero_output_for_mask"}, false);
  if (value.masked && zero && !sequences)
    site.refuse(
        "it gives 0 where its last step is padding; return_sequences, or no "
        "zero_output_for_mask, would be needed");
  // Its output is reversed, padding included, its mask is not.
  const bool apart = backwards && value.masked && sequences;
  if (backwards) value = reversed(site, value, apart);
  const std::int64_t inputs = value.shape().back();
  Flow flow = site.add("", std::move(node), {value});
  fill_direction(site, cell, inputs, "cell", "");
  if (!sequences || !value.masked) return flow;
  if (apart) site.import().inputs->held.insert(flow.node);
  if (!zero) flow = site.held(flow);
  if (!apart) return flow;
  return site.add("mask", {{"type", "reverse"}, {"turns", "mask"}}, {flow});
}

Flow recurrent(Site& site) {
  return one_direction(site, cell_of(site, site.layer().class_name));
}

// RNN(LSTMCell(...)): a layer with the settings of its cell.
Flow rnn(Site& site) {
  const JsonView cell = site.view({"cell"});
  LayerSpec own = site.layer();
  if (!cell.raw().is_object() || !cell.has("config") ||
      !cell.at("config").raw().is_object())
    site.refuse("its cells are several; one would be needed");
  const std::string class_name = cell.at("class_name").string();
  const JsonView settings = cell.at("config");
  for (const auto& [key, value] : settings.raw().items())
    if (key != "name" && key != "trainable") own.config[key] = value;
  Site inner = site.as(own);
  const Flow flow = one_direction(inner, cell_of(inner, class_name));
  inner.check_all_read();
  return flow;
}

std::string merge_of(const Site& site) {
  const std::string mode =
      site.has({"merge_mode"}) ? site.text({"merge_mode"}, "") : "";
  for (const auto& [theirs, ours] :
       {std::pair("concat", "concat"), std::pair("sum", "add"),
        std::pair("mul", "multiply"), std::pair("ave", "average")})
    if (mode == theirs) return ours;
  site.refuse("its merge_mode is " + in_quotes(mode) +
              "; concat, sum, mul or ave would be needed");
}

Flow bidirectional(Site& site) {
  const std::string merge = merge_of(site);
  const LayerSpec forward = layer_spec(site.view({"layer"}));
  Site inner = site.as(forward);
  const Cell cell = cell_of(inner, forward.class_name);
  if (site.has({"backward_layer"})) {
    LayerSpec backward = layer_spec(site.view({"backward_layer"}));
    const Site back = site.as(backward);
    const Cell other = cell_of(back, backward.class_name);
    if (function_of(back, other) != function_of(inner, cell) ||
        !back.flag({"go_backwards"}, true))
      site.refuse("its two directions differ; like ones would be needed");
    back.check_all_read();
  }
  const Flow value = sequence_of(site);
  Json node = node_of(inner, cell);
  node["bidirectional"] = merge;
  if (inner.flag({"go_backwards"}, false))
    site.refuse("its layer goes backwards itself");
  const std::int64_t inputs = value.shape().back();
  Flow flow = inner.add("", std::move(node), {value});
  if (site.dialect().both_repeat_padding())
    site.leave_padding(
        flow,
        "its padding counts, for which this version of Keras repeats what came "
        "before it in each direction; a layer behind it that heeds its mask "
        "would be needed");
  fill_direction(inner, cell, inputs, "forward_layer/cell", "");
  fill_direction(inner, cell, inputs, "backward_layer/cell", "backward_");
  inner.check_all_read();
  return flow;
}

}  // namespace

std::vector<Class> recurrent_classes() {
  return {{"LSTM", recurrent},
          {"GRU", recurrent},
          {"SimpleRNN", recurrent},
          {"RNN", rnn},
          {"Bidirectional", bidirectional}};
}

}  // namespace dl::convert::keras
