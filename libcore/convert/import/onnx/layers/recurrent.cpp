// LSTM, GRU and RNN: steps first, then the batch; gates in another order.

#include <algorithm>
#include <cmath>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

struct Cell {
  const char* type;
  std::int64_t gates;
  std::vector<std::int64_t> order;  // which of ONNX's blocks each of ours is
};

struct Recurrent {
  Site& site;
  Cell cell;
  std::int64_t units, directions, inputs;
  bool reset_before, bias, peepholes;
  const Constant *w, *r, *b, *p;
};

// alpha, beta: of those that have some, here.
struct CellFunction {
  const char *name, *ours;
  std::optional<double> alpha = {}, beta = {};
};
const CellFunction kFunctions[] = {{"Relu", "relu"},
                                   {"Sigmoid", "sigmoid"},
                                   {"Tanh", "tanh"},
                                   {"Softsign", "softsign"},
                                   {"HardSigmoid", "hard_sigmoid", 0.2, 0.5},
                                   {"Affine", "identity", 1, 0}};

// Blocks of `units` rows of a direction: [directions, blocks units, columns].
void copy_blocks(const Constant& from, std::int64_t direction,
                 std::int64_t units, std::int64_t columns,
                 const std::vector<std::int64_t>& order, std::span<float> to) {
  const std::int64_t block = units * columns;
  const std::int64_t whole = from.shape()[1] * columns;
  std::size_t at = 0;
  for (const std::int64_t own : order)
    for (std::int64_t i = 0; i < block; ++i)
      to[at++] = static_cast<float>(from.at(
          static_cast<std::size_t>(direction * whole + own * block + i)));
}

// Biases of W and of R are one, but for what a gru resets behind the product.
Fill bias_fill(const Recurrent& r, std::int64_t direction) {
  return [b = *r.b, cell = r.cell, units = r.units, direction,
          apart = r.cell.gates == 3 && !r.reset_before](std::span<float> to) {
    const std::int64_t half = cell.gates * units;
    const auto at = [&](std::int64_t i) {
      return static_cast<float>(
          b.at(static_cast<std::size_t>(direction * 2 * half + i)));
    };
    std::size_t n = 0;
    for (std::size_t k = 0; k < cell.order.size(); ++k)
      for (std::int64_t i = 0; i < units; ++i) {
        const std::int64_t own = cell.order[k] * units + i;
        const bool alone = apart && k == 2;
        to[n++] = alone ? at(own) : at(own) + at(half + own);
      }
    for (std::int64_t i = 0; apart && i < units; ++i)
      to[n++] = at(half + 2 * units + i);
  };
}

void fill(const Recurrent& r, const std::string& node, std::int64_t direction,
          const std::string& prefix) {
  const auto matrix = [&](const char* name, const Constant& from,
                          std::int64_t columns,
                          const std::vector<std::int64_t>& order) {
    r.site.fill(node, prefix + name,
                [=, units = r.units, from = from](std::span<float> to) {
                  copy_blocks(from, direction, units, columns, order, to);
                });
  };
  matrix("weight", *r.w, r.inputs, r.cell.order);
  matrix("recurrent_weight", *r.r, r.units, r.cell.order);
  if (r.bias) r.site.fill(node, prefix + "bias", bias_fill(r, direction));
  // i, o, f there, and i, f, o here.
  if (r.peepholes) matrix("peephole", *r.p, 1, {0, 2, 1});
}

void want_shape(const Site& site, const Constant& c, const Sizes& shape,
                const char* what) {
  if (c.shape() != shape)
    site.refuse(std::string("its ") + what +
                " is not of the shape that its "
                "hidden_size and input say");
}

std::string function_of(const Site& site, std::size_t i, const char* usual) {
  const auto given = site.node().texts("activations");
  if (i >= given.size()) return usual;
  for (const CellFunction& one : kFunctions)
    if (given[i] == one.name) return one.ours;
  site.refuse("its cell has the activation " + in_quotes(given[i]) +
              "; one of Relu, Sigmoid, Tanh, Softsign, HardSigmoid and Affine "
              "would be needed");
}

// Each number is that of one of the functions which have some: they are the
// usual ones, whichever it is of.
void want_usual(const Site& site, const char* key,
                std::optional<double> CellFunction::*own) {
  for (const double given : site.node().numbers(key))
    for (const std::string& name : site.node().texts("activations"))
      for (const CellFunction& one : kFunctions)
        if (name == one.name && one.*own &&
            std::abs(*(one.*own) - given) > 1e-6)
          site.refuse("its " + std::string(key) + " has a number that is not " +
                      "that of " + name + " here");
}

Json layer_of(const Recurrent& r) {
  const Site& site = r.site;
  Json layer{{"type", r.cell.type}, {"units", r.units}, {"bias", r.bias}};
  const std::size_t each = r.cell.gates == 4 ? 3 : r.cell.gates == 3 ? 2 : 1;
  const std::size_t own = each > 1 ? 1 : 0;
  if (each > 1) layer["gate_activation"] = function_of(site, 0, "sigmoid");
  layer["activation"] = function_of(site, own, "tanh");
  const std::size_t given = site.node().texts("activations").size(),
                    wanted = each * static_cast<std::size_t>(r.directions);
  if (given != 0 && given != wanted)
    site.refuse("it has " + std::to_string(given) + " activations; " +
                std::to_string(wanted) + " would be needed");
  for (std::size_t i = 0; i < given; ++i) {
    const std::size_t first = i % each == 2 ? 1 : i % each;
    if (function_of(site, i, "") != function_of(site, first, ""))
      site.refuse(
          "its activations differ within the cell or between "
          "directions; the same would be needed");
  }
  want_usual(site, "activation_alpha", &CellFunction::alpha);
  want_usual(site, "activation_beta", &CellFunction::beta);
  if (r.cell.gates == 3) layer["reset_before"] = r.reset_before;
  if (r.peepholes) layer["peepholes"] = true;
  if (r.directions == 2) layer["bidirectional"] = "concat";
  return layer;
}

// A state to begin with is to be none, or zeros.
void want_zeros(const Site& site, std::size_t i, const char* what) {
  if (!site.has(i)) return;
  const Constant* state = site.constant(i);
  const auto all = state != nullptr && state->elements() > 0 ? state->uniform()
                                                             : std::nullopt;
  if (!all || *all != 0)
    site.refuse(std::string("it begins with ") + what +
                "; zeros would be needed");
}

Recurrent recurrent_of(Site& site, const Cell& cell, const Flow& x) {
  const Node& node = site.node();
  const std::string direction = node.text("direction", "forward");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  if (direction != "forward" && direction != "reverse" && directions == 1)
    site.refuse("its direction is " + in_quotes(direction));
  const Constant &w = site.known(1, "weight"), &r = site.known(2, "weight");
  if (w.shape().size() != 3) site.refuse("its weights have no directions");
  const std::int64_t units =
      node.integer("hidden_size", w.shape()[1] / cell.gates);
  const std::int64_t inputs = x.shape().back();
  if (units < 1 || units > 2147483647) site.refuse("its hidden_size is none");
  want_shape(site, w, {directions, cell.gates * units, inputs}, "weight");
  want_shape(site, r, {directions, cell.gates * units, units}, "weight");
  const Constant* b = site.has(3) ? &site.known(3, "bias") : nullptr;
  if (b != nullptr)
    want_shape(site, *b, {directions, 2 * cell.gates * units}, "bias");
  if (site.has(4)) {
    const Constant* lengths = site.constant(4);
    const auto all = lengths ? lengths->uniform() : std::nullopt;
    if (!all || *all != static_cast<double>(x.shape()[0]))
      site.refuse(
          "it has lengths of sequences; sequences of one length would "
          "be needed, which have a mask here");
  }
  want_zeros(site, 5, "a state");
  want_zeros(site, 6, "a state of its cell");
  const Constant* p =
      cell.gates == 4 && site.has(7) ? &site.known(7, "peepholes") : nullptr;
  if (p != nullptr) want_shape(site, *p, {directions, 3 * units}, "peepholes");
  if (node.integer("input_forget", 0) != 0 || node.has("clip"))
    site.refuse("it couples its gates or clips them");
  return {.site = site,
          .cell = cell,
          .units = units,
          .directions = directions,
          .inputs = inputs,
          .reset_before = node.integer("linear_before_reset", 0) == 0,
          .bias = b != nullptr,
          .peepholes = p != nullptr,
          .w = &w,
          .r = &r,
          .b = b,
          .p = p};
}

bool is_read(const Site& site, std::size_t i) {
  const Node& node = site.node();
  return i < node.out.size() && !node.out[i].empty() &&
         site.import().readers.count(node.out[i]) > 0;
}

// [steps, inputs], however the writer says where the batch is.
Flow sequence(Site& site) {
  const Flow& given = site.flow(0);
  if (given.axes.size() != 3) site.refuse("its input is no batch of sequences");
  const bool steps_first = site.node().integer("layout", 0) == 0;
  const Axis& steps = given.axes[steps_first ? 0 : 1];
  if (steps == Axis{kBatch} && site.import().graph->is_input(given.node) &&
      site.import().inputs->steps_first.insert(given.node).second)
    throw Again{};
  Flow flow;
  static_cast<Value&>(flow) =
      site.shaped(given, {steps, given.axes[2]}, "steps");
  return flow;
}

// The state behind the last step of each direction, of all steps.
Value last_state(const Recurrent& r, const Value& all) {
  Site& site = r.site;
  Value last = site.add("last", {{"type", "last_step"}}, {all});
  if (r.directions == 1) return last;
  Value first = site.add(
      "first", {{"type", "subset"}, {"axis", 0}, {"begin", 0}, {"end", 1}},
      {all});
  first = site.reshaped(first, {2 * r.units}, "first.step");
  const Value forward = site.add(
      "forward", {{"type", "subset"}, {"begin", 0}, {"end", r.units}}, {last});
  const Value backward = site.add(
      "backward",
      {{"type", "subset"}, {"begin", r.units}, {"end", 2 * r.units}}, {first});
  return site.add("state", {{"type", "merge"}}, {forward, backward});
}

void recurrent(Site& site, const Cell& cell) {
  Flow x = sequence(site);
  const Recurrent r = recurrent_of(site, cell, x);
  const bool batch_first = site.node().integer("layout", 0) != 0;
  const bool backwards = site.node().text("direction", "forward") == "reverse";
  Value from = x;
  if (backwards) from = site.add("reversed", {{"type", "reverse"}}, {from});
  if (is_read(site, 2))
    site.refuse(
        "the state of its cell is read; an output of that would be "
        "needed");
  const bool states = is_read(site, 1), all = is_read(site, 0);
  Json layer = layer_of(r);
  layer["return_sequences"] = all;
  Value value = site.add("", std::move(layer), {from});
  for (std::int64_t d = 0; d < r.directions; ++d)
    fill(r, value.node, d, d == 0 ? "" : "backward_");
  const Axis both = r.directions == 2 ? Axis{0} : Axis{};
  if (states) {
    Flow y;
    static_cast<Value&>(y) = all ? last_state(r, value) : value;
    if (r.directions == 2)
      static_cast<Value&>(y) = site.reshaped(y, {2, r.units}, "states");
    const Axis last{r.directions == 2 ? 1 : 0};
    y.axes = batch_first ? std::vector<Axis>{{kBatch}, both, last}
                         : std::vector<Axis>{both, {kBatch}, last};
    site.give(std::move(y), 1);
  }
  if (!all) return;
  const std::int64_t steps = value.shape()[0];
  if (backwards) value = site.add("order", {{"type", "reverse"}}, {value});
  Flow y;
  if (r.directions == 2)
    value = site.reshaped(value, {steps, 2, r.units}, "both");
  static_cast<Value&>(y) = value;
  const Axis second = r.directions == 2 ? Axis{1} : Axis{};
  const Axis last{r.directions == 2 ? 2 : 1};
  y.axes = batch_first ? std::vector<Axis>{{kBatch}, {0}, second, last}
                       : std::vector<Axis>{{0}, second, {kBatch}, last};
  site.give(std::move(y), 0);
}

void lstm(Site& site) { recurrent(site, {"lstm", 4, {0, 2, 3, 1}}); }
void gru(Site& site) { recurrent(site, {"gru", 3, {0, 1, 2}}); }
void rnn(Site& site) { recurrent(site, {"simple_rnn", 1, {0}}); }

}  // namespace

std::vector<Operator> recurrent_operators() {
  return {{"LSTM", lstm}, {"GRU", gru}, {"RNN", rnn}};
}

}  // namespace dl::convert::onnx
