// Recurrent layers, in one direction and in both.
//
// Blocks of an LSTM are [candidate, forget, output, input]; ours are input,
// forget, candidate, output.  A GravesLSTM has its peepholes behind them in RW,
// of forget, output and input; ours are of input, forget, output.

#include <algorithm>
#include <iterator>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers/dense.h"
#include "libcore/convert/import/dl4j/maps.h"

namespace dl::convert::dl4j {
namespace {

struct Cell {
  std::string type;  // "lstm"
  bool peepholes = false;
  std::int64_t units = 0, gates = 1;
};

// None: it is no such layer.
std::optional<Cell> cell_of(const Site& site) {
  const std::string name = class_of(site.json(), "layer");
  Cell cell;
  if (name == "lstm" || name == "graveslstm" ||
      name == "gravesbidirectionallstm") {
    cell.type = "lstm";
    cell.peepholes = name != "lstm";
    cell.gates = 4;
  } else if (name == "simplernn") {
    cell.type = "simple_rnn";
    if (site.flag("hasLayerNorm", false))
      site.refuse(
          "it has a layer normalization; a recurrent cell with one would be "
          "needed");
  } else {
    return std::nullopt;
  }
  cell.units = site.integer("nout", 1, kMostUnits);
  return cell;
}

// Functions of a cell are few.
std::string cell_activation(const Site& site, const char* key) {
  Json function = member(site.json(), key);
  if (function.is_null()) function = {{"@class", "ActivationSigmoid"}};
  Json ours = activation_of(function);
  if (ours.is_object() && ours["type"] == "hard_sigmoid") ours = "hard_sigmoid";
  constexpr const char* kKnown[] = {"identity",    "relu",      "sigmoid",
                                    "tanh",        "hard_tanh", "softsign",
                                    "hard_sigmoid"};
  if (ours.is_string() &&
      std::ranges::find(kKnown, ours.get<std::string>()) != std::end(kKnown))
    return ours;
  site.refuse("its cell has the activation " +
              in_quotes(shown_class(function)) +
              "; one of identity, relu, sigmoid, tanh, hardsigmoid, hardtanh "
              "and softsign would be needed");
}

Json node_of(const Site& site, const Cell& cell, bool each) {
  Json node{{"type", cell.type},
            {"units", cell.units},
            {"activation", cell_activation(site, "activationFn")},
            {"return_sequences", each}};
  if (cell.type == "lstm") {
    node["gate_activation"] = cell_activation(site, "gateActivationFn");
    node["forget_bias_init"] = site.number("forgetGateBiasInit", 1);
    if (cell.peepholes) node["peepholes"] = true;
  }
  return node;
}

// The parameters of one direction.  names: of DL4J's variables.
void take_direction(Site& site, const Cell& cell, std::int64_t inputs,
                    const std::string& prefix,
                    const std::vector<std::string>& names) {
  const std::int64_t rows = cell.gates * cell.units;
  const auto square = static_cast<std::size_t>(rows * cell.units);
  const auto units = static_cast<std::size_t>(cell.units);
  const Map ordered = cell.gates == 4 ? blocks({3, 1, 0, 2}) : as_is();
  const std::size_t weight = site.take(names[0], inputs * rows, Kind::kWeight);
  const std::size_t recurrent = site.take(
      names[1], cell.units * (rows + (cell.peepholes ? 3 : 0)), Kind::kWeight);
  const std::size_t bias = site.take(names[2], rows, Kind::kBias);
  site.fill(prefix + "weight", weight, ordered);
  site.fill(prefix + "recurrent_weight", recurrent, part(0, square, ordered));
  site.fill(prefix + "bias", bias, ordered);
  if (cell.peepholes)
    site.fill(prefix + "peephole", recurrent,
              part(square, 3 * units, blocks({2, 0, 1})));
}

Flow sequence_of(const Site& site) {
  const Flow& value = site.only();
  if (value.each || value.shape().rank() != 2)
    site.refuse("its input is " + value.shape().to_string() +
                "; a sequence [steps, features] would be needed");
  const std::int64_t wanted = site.integer("nin", 0, kMostUnits, 0);
  if (wanted > 0 && wanted != value.shape().back())
    site.refuse("it wants " + std::to_string(wanted) + " inputs, and gets " +
                std::to_string(value.shape().back()));
  return value;
}

Flow one_direction(Site& site, bool each) {
  const Flow value = sequence_of(site);
  const Cell cell = *cell_of(site);
  const Flow flow = site.add("", node_of(site, cell, each), {value});
  take_direction(site, cell, value.shape().back(), "", {"W", "RW", "b"});
  return flow;
}

Flow recurrent(Site& site) { return one_direction(site, true); }

Flow both(Site& site, const Cell& cell, const char* merge, bool each,
          const std::vector<std::string>& forward,
          const std::vector<std::string>& backward) {
  const Flow value = sequence_of(site);
  Json node = node_of(site, cell, each);
  node["bidirectional"] = merge;
  const Flow flow = site.add("", node, {value});
  take_direction(site, cell, value.shape().back(), "", forward);
  take_direction(site, cell, value.shape().back(), "backward_", backward);
  return flow;
}

Flow graves_bidirectional(Site& site) {
  return both(site, *cell_of(site), "add", true, {"WF", "RWF", "bF"},
              {"WB", "RWB", "bB"});
}

bool is_last_step(const Json& layer) {
  return class_of(layer, "layer") == "laststep" ||
         class_of(layer, "layer") == "lasttimestep";
}

// The layer within wrappers that ask for the last step alone.
const Json& within(const Json& layer, bool& each) {
  const Json* inner = &layer;
  while (is_last_step(*inner) && member(*inner, "underlying").is_object()) {
    each = false;
    inner = &member(*inner, "underlying");
  }
  return *inner;
}

Flow bidirectional(Site& site) {
  bool each = true;
  const Json& forward = within(member(site.json(), "fwd"), each);
  const Json& backward = within(member(site.json(), "bwd"), each);
  Site one = site.as(forward, site.in());
  const auto cell = cell_of(one);
  const auto other =
      cell_of(site.as(backward.is_null() ? forward : backward, site.in()));
  if (!cell || !other || class_of(forward) == "gravesbidirectionallstm" ||
      cell->type != other->type || cell->units != other->units ||
      cell->peepholes != other->peepholes)
    site.refuse("its layers are " + in_quotes(shown_class(forward)) + " and " +
                in_quotes(shown_class(backward)) +
                "; two of LSTM, GravesLSTM or SimpleRnn alike would be needed");
  const std::string mode = site.text("mode", "CONCAT");
  const char* merge = mode == "CONCAT"    ? "concat"
                      : mode == "ADD"     ? "add"
                      : mode == "MUL"     ? "multiply"
                      : mode == "AVERAGE" ? "average"
                                          : nullptr;
  if (merge == nullptr)
    site.refuse("its mode is " + in_quotes(mode) +
                "; CONCAT, ADD, MUL or AVERAGE would be needed");
  one = site.as(forward, {disturbed(one, site.only())});
  return both(one, *cell, merge, each, {"fW", "fRW", "fb"},
              {"bW", "bRW", "bb"});
}

// A cell in one direction says its last step itself.
Flow last_time_step(Site& site) {
  const Json& inner = member(site.json(), "underlying");
  Site below = site.as(inner, site.in());
  const std::string name = class_of(inner, "layer");
  if (name == "lstm" || name == "graveslstm" || name == "simplernn") {
    below = site.as(inner, {disturbed(below, site.only())});
    return one_direction(below, false);
  }
  const Flow flow = make_layer(below);
  return site.add("last", {{"type", "last_step"}}, {flow});
}

// Padding is found by its values.
Flow mask_zero(Site& site) {
  const Json& inner = member(site.json(), "underlying");
  const double value = number_in(site.json(), "maskingValue", 0);
  const Flow masked = site.add(
      "masking", {{"type", "masking"}, {"value", value}}, {site.only()});
  Site below = site.as(inner, {masked});
  return make_layer(below);
}

}  // namespace

std::vector<Class> recurrent_classes() {
  return {{"lstm", recurrent},
          {"graveslstm", recurrent},
          {"simplernn", recurrent},
          {"gravesbidirectionallstm", graves_bidirectional},
          {"bidirectional", bidirectional},
          {"lasttimestep", last_time_step},
          {"maskzero", mask_zero}};
}

}  // namespace dl::convert::dl4j
