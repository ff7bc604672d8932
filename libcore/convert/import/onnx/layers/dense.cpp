// Products with weights: Gemm, MatMul and what is added to it, Gather of rows.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

// For each number of an example here, row-major, its column in ONNX: the parts
// of an axis in the order that ONNX has them.
std::vector<std::size_t> columns_of(const Flow& flow, const Axis& parts) {
  const auto count = static_cast<std::size_t>(flow.shape().elements());
  const auto rank = static_cast<std::size_t>(flow.shape().rank());
  std::vector<std::size_t> step(rank, 0), at(rank, 0), columns(count);
  std::size_t stride = 1;
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (parts[i] == kBatch) continue;
    const auto part = static_cast<std::size_t>(parts[i]);
    step[part] = stride;
    stride *= static_cast<std::size_t>(flow.shape()[parts[i]]);
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    columns[i] = place;
    for (std::size_t k = rank; k-- > 0;) {
      place += step[k];
      if (++at[k] < static_cast<std::size_t>(flow.shape()[static_cast<int>(k)]))
        break;
      place -= step[k] * at[k];
      at[k] = 0;
    }
  }
  return columns;
}

// [units, columns]; from[i]: the column that is column i here; none: as it is.
Fill weight_fill(const Constant& weight, bool columns_first,
                 std::vector<std::size_t> from) {
  return [weight, columns_first, from = std::move(from)](std::span<float> to) {
    const Sizes& shape = weight.shape();
    const auto rows = static_cast<std::size_t>(shape[columns_first ? 1 : 0]),
               columns = static_cast<std::size_t>(shape[columns_first ? 0 : 1]);
    require(to.size() == rows * columns, "weights of another size");
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t own = from.empty() ? c : from[c];
        to[r * columns + c] = static_cast<float>(
            weight.at(columns_first ? own * rows + r : r * columns + own));
      }
  };
}

// One number for all, or one for each.
Fill bias_fill(const Constant& bias) {
  return [bias](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(bias.at(bias.elements() == 1 ? 0 : i));
  };
}

bool is_row(const Constant& bias, std::int64_t units) {
  const std::int64_t count = bias.elements();
  return (count == 1 || count == units) &&
         (bias.shape().empty() || bias.shape().back() == count);
}

// Rows by themselves, [.., inputs]: a layer that sees each.
Value product_of_rows(Site& site, Value value, Json layer, std::int64_t units,
                      std::string& made) {
  const Sizes shape(value.shape().extents().begin(),
                    value.shape().extents().end());
  Sizes rows(shape.begin(), shape.end() - 1);
  if (rows.size() == 1 && value.form.steps) {
    layer["type"] = "dense";
    layer["units"] = units;
    value = site.add("", std::move(layer), {value});
    made = value.node;
    return value;
  }
  // Up to three axes of places.
  Sizes places = rows;
  if (places.size() == 1) places = {places[0], 1};
  while (places.size() > 3) {
    places[1] *= places[0];
    places.erase(places.begin());
  }
  layer["type"] = places.size() == 3 ? "conv3d" : "conv2d";
  layer["filters"] = units;
  layer["kernel"] = std::vector<int>(places.size(), 1);
  Sizes in = places, out = rows;
  in.push_back(shape.back());
  out.push_back(units);
  value = site.add("", std::move(layer), {site.reshaped(value, in, "rows")});
  made = value.node;
  return site.reshaped(value, out, "back");
}

// The attention layer with the projection of its output as a part of it; none:
// this is no such projection.
std::optional<Flow> projection(Site& site, const Flow& mixed,
                               const Linear& linear, const Json& activation) {
  if (!mixed.attention || mixed.attention->stage != Attention::Stage::kMixed ||
      linear.units != mixed.attention->query.source.shape().back())
    return std::nullopt;
  const Axis& parts = mixed.axes.back();
  const bool all_heads =
      parts == Axis{1, 2} || (parts == Axis{2} && mixed.shape()[1] == 1);
  if (!all_heads) return std::nullopt;
  Flow made = attention_layer(site, mixed, &linear);
  for (const Axis& axis : mixed.axes) {
    made.axes.push_back(axis);
    std::erase_if(made.axes.back(), [](int part) { return part > 0; });
  }
  made.axes.back() = {1};
  if (!activation.is_null())
    static_cast<Value&>(made) =
        site.add("activation",
                 {{"type", "activation"}, {"activation", activation}}, {made});
  return made;
}

// Whether an example has more than one row along ONNX's last axis.
bool has_rows(const Flow& flow) {
  for (int one = 0; one < flow.shape().rank(); ++one)
    if (flow.shape()[one] != 1 &&
        std::ranges::count(flow.axes.back(), one) == 0)
      return true;
  return false;
}

// All numbers of an example at once.  name: of the layer.
Flow product_of_examples(Site& site, const Flow& flow, Json layer,
                         std::int64_t units, std::string& name) {
  Value value = flow;
  if (flow.form.steps || site.import().graph->is_input(flow.node))
    value = site.reshaped(flow, {site.extent_of(flow, flow.axes.size() - 1)},
                          "flat");
  layer["type"] = "dense";
  layer["units"] = units;
  Flow made;
  static_cast<Value&>(made) = site.add("", std::move(layer), {value});
  name = made.node;
  for (const Axis& axis : flow.axes) {
    const bool batch = std::ranges::count(axis, kBatch) > 0;
    made.axes.push_back(batch ? Axis{kBatch} : Axis{});
  }
  made.axes.back() = {0};
  return made;
}

// As the first step of a recurrent layer whose steps are written out.
[[noreturn]] void refuse_constants(const Site& site) {
  site.refuse(
      "it multiplies two constants, as a recurrent layer does with its first "
      "state where each step is written out; an RNN, GRU or LSTM of ONNX "
      "would be needed, as torch.onnx.export writes of torch.nn.RNN, GRU and "
      "LSTM with dynamo=False");
}

Constant times(const Constant& from, double factor) {
  if (factor == 1) return from;
  std::vector<float> all = from.reals();
  for (float& one : all) one = static_cast<float>(one * factor);
  return Constant::of_reals(from.shape(), std::move(all));
}

void gemm(Site& site) {
  const Node& node = site.node();
  if (site.constant(0) != nullptr && site.constant(1) != nullptr)
    refuse_constants(site);
  if (node.integer("transA", 0) != 0)
    site.refuse("it transposes its input; W x + b would be needed");
  const Constant weight =
      times(site.known(1, "weight"), node.number("alpha", 1));
  std::optional<Constant> row;
  if (const double beta = node.number("beta", 1); site.has(2) && beta != 0)
    row = times(site.known(2, "bias"), beta);
  const Constant* bias = row ? &*row : nullptr;
  if (weight.shape().size() != 2) site.refuse("its weight is no matrix");
  const bool columns_first = node.integer("transB", 0) == 0;
  const std::int64_t units = weight.shape()[columns_first ? 1 : 0];
  if (bias != nullptr && !is_row(*bias, units))
    site.refuse("its bias is no row of " + std::to_string(units) + " numbers");
  Flow flow = site.flow(0);
  const Json activation =
      take_activation(site, flow.axes.size(), flow.axes.size() - 1);
  site.give(site.product(flow, units, weight, columns_first, bias, activation));
}

// 1 - p and p of a sigmoid p of x, one beside the other: a softmax of -x / 2
// and x / 2, which says which of two classes it is.
void sigmoid_pair(Site& site) {
  const Flow& flow = site.flow(0);
  const std::size_t rank = flow.axes.size();
  if (rank < 1 || site.axis(site.node().integer("axis", 0), rank) + 1 != rank ||
      site.extent_of(flow, rank - 1) != 1)
    site.refuse("it is along another axis than the last one, of one number");
  const Constant matrix = Constant::of_reals({1, 2}, {-0.5F, 0.5F});
  site.give(site.product(flow, 2, matrix, true, nullptr, "softmax"));
}

// The row that its only reader adds.
const Constant* added_row(Site& site, std::int64_t units) {
  const Node* next = site.only_reader();
  if (next == nullptr || next->op != "Add" || !next->domain.empty() ||
      next->in.size() != 2 || next->has("axis"))
    return nullptr;
  const Site adder(site.import(), *next);
  const Constant* row = adder.constant(next->in[0] == site.output() ? 1 : 0);
  if (row == nullptr || !is_row(*row, units) || row->whole()) return nullptr;
  site.take_over(next);
  return row;
}

void matmul(Site& site) {
  const Constant* weight = site.constant(1);
  if (weight == nullptr && site.constant(0) == nullptr) {
    if (const auto made = attended(site, site.flow(0), site.flow(1)))
      return site.give(*made);
    site.refuse(
        "it multiplies two computed matrices, which are no scores or values of "
        "an attention; a layer for that would be needed");
  }
  if (site.constant(0) != nullptr && weight != nullptr) refuse_constants(site);
  if (const Constant* first = site.constant(0)) {
    const Flow& flow = site.flow(1);
    if (first->shape().size() != 2 || flow.axes.size() < 2)
      site.refuse("its first factor is no matrix");
    const std::size_t axis = flow.axes.size() - 2;
    if (first->shape()[1] != site.extent_of(flow, axis))
      site.refuse("its matrix is for " + std::to_string(first->shape()[1]) +
                  " rows, its input has " +
                  std::to_string(site.extent_of(flow, axis)));
    return site.give(site.through(flow, axis, *first, !is_parameter(site, 0)));
  }
  Flow flow = site.flow(0);
  const Constant& known = site.known(1, "second factor");
  Constant matrix = known;
  if (matrix.shape().size() == 1)
    site.refuse("its weight is a vector; a matrix would be needed");
  while (matrix.shape().size() > 2 && matrix.shape()[0] == 1)
    matrix =
        matrix.reshaped({matrix.shape().begin() + 1, matrix.shape().end()});
  if (matrix.shape().size() != 2)
    site.refuse("its weight is a stack of matrices; one would be needed");
  const std::int64_t units = matrix.shape()[1];
  const Constant* bias = added_row(site, units);
  const Json activation =
      take_activation(site, flow.axes.size(), flow.axes.size() - 1);
  site.give(site.product(flow, units, matrix, true, bias, activation));
}

// A row of a table for each number of an input.
void embedding(Site& site, const Constant& table) {
  const Flow& flow = site.flow(1);
  Inputs& inputs = *site.import().inputs;
  if (!flow.form.tokens && site.import().graph->is_input(flow.node) &&
      inputs.numbers.count(flow.node) == 0 &&
      inputs.tokens.insert(flow.node).second)
    throw Again{};
  if (table.shape().size() != 2 || table.whole() ||
      site.node().integer("axis", 0) != 0)
    site.refuse("its table is no matrix of which it takes rows");
  if (!flow.form.tokens)
    site.refuse(
        "it takes rows by numbers that are computed; an input of whole "
        "numbers would be needed");
  Flow made;
  static_cast<Value&>(made) = site.add("",
                                       {{"type", "embedding"},
                                        {"rows", table.shape()[0]},
                                        {"units", table.shape()[1]}},
                                       {flow});
  site.fill(made.node, "weight", bias_fill(table));
  made.axes = flow.axes;
  made.axes.push_back({made.shape().rank() - 1});
  site.give(std::move(made));
}

void gather(Site& site) {
  if (const Constant* table = site.constant(0)) return embedding(site, *table);
  const Flow& flow = site.flow(0);
  const Constant& which = site.known(1, "index");
  const std::size_t axis =
      site.axis(site.node().integer("axis", 0), flow.axes.size());
  const std::int64_t extent = site.extent_of(flow, axis);
  Sizes places = which.wholes();
  bool run = !places.empty();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) places[i] += extent;
    run = run && places[i] == places[0] + static_cast<std::int64_t>(i);
  }
  if (!run) site.move_channels(flow);
  // The last step of a sequence is a layer of its own.
  if (which.shape().empty() && places[0] == extent - 1 && flow.form.steps &&
      flow.axes[axis] == Axis{0} && flow.shape().rank() == 2 && extent > 1) {
    Flow made;
    static_cast<Value&>(made) = site.add("", {{"type", "last_step"}}, {flow});
    for (std::size_t k = 0; k < flow.axes.size(); ++k) {
      if (k == axis) continue;
      made.axes.push_back(flow.axes[k]);
      for (int& part : made.axes.back())
        if (part > 0) --part;
    }
    return site.give(std::move(made));
  }
  Flow part = site.taken(flow, axis, places);
  if (which.shape().empty()) {
    part = site.squeezed(std::move(part), {axis});
  } else if (which.shape().size() > 1) {
    Sizes shape = site.shape(part);
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
    shape.insert(shape.erase(at), which.shape().begin(), which.shape().end());
    part = site.regrouped(part, shape);
  }
  site.give(std::move(part));
}

// Gathers over the first axes together, by a list of places in all of them.
void gather_nd(Site& site) {
  const Flow& flow = site.flow(0);
  const Constant& which = site.known(1, "index");
  const auto axes = which.shape().empty()
                        ? 0
                        : static_cast<std::size_t>(which.shape().back());
  if (site.node().integer("batch_dims", 0) != 0 || axes < 1 ||
      axes > flow.axes.size())
    site.refuse("its indices are not those of its first axes");
  const Sizes shape = site.shape(flow), all = which.wholes();
  Sizes places(all.size() / axes, 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t extent = shape[i % axes];
    const std::int64_t at = all[i] < 0 ? all[i] + extent : all[i];
    if (at < 0 || at >= extent)
      site.refuse("its index is outside of its input");
    places[i / axes] = places[i / axes] * extent + at;
  }
  const auto rest = shape.begin() + static_cast<std::ptrdiff_t>(axes);
  std::int64_t together = 1;
  for (std::size_t k = 0; k < axes; ++k) together *= shape[k];
  Sizes joined{together}, made(which.shape().begin(), which.shape().end() - 1);
  joined.insert(joined.end(), rest, shape.end());
  made.insert(made.end(), rest, shape.end());
  const Flow row = axes > 1 ? site.regrouped(flow, joined) : flow;
  site.give(site.regrouped(site.taken(row, 0, places), made));
}

}  // namespace

Flow Site::product(const Flow& given, std::int64_t units,
                   const Constant& weight, bool columns_first,
                   const Constant* bias, const Json& activation, bool frozen) {
  if (given.axes.empty()) refuse("its input is a single number");
  const std::size_t last = given.axes.size() - 1;
  const std::int64_t columns = weight.shape()[columns_first ? 0 : 1];
  if (extent_of(given, last) != columns)
    refuse("its weight is for " + std::to_string(columns) +
           " numbers, its input has " + std::to_string(extent_of(given, last)));
  if (std::ranges::count(given.axes[last], kBatch) > 0)
    refuse("it mixes the examples of a batch");
  Linear linear{.source = {},
                .units = units,
                .weight = weight_fill(weight, columns_first, {}),
                .bias = bias != nullptr ? bias_fill(*bias) : Fill(),
                .rows = {},
                .factor = 1};
  for (std::int64_t row = 0; row < units; ++row) linear.rows.push_back(row);
  if (const auto made = projection(*this, given, linear, activation))
    return *made;
  Flow flow = real(given), made;
  Json layer{{"bias", bias != nullptr}};
  if (!activation.is_null()) layer["activation"] = activation;
  if (frozen && !import_->inputs->all_frozen) layer["frozen"] = true;
  std::string name;
  std::vector<std::size_t> from;
  if (!has_rows(flow)) {
    from = columns_of(flow, flow.axes[last]);
    made = product_of_examples(*this, flow, std::move(layer), units, name);
  } else {
    flow = with_last(flow, last);
    static_cast<Value&>(made) =
        product_of_rows(*this, flow, std::move(layer), units, name);
    made.axes = flow.axes;
    if (flow.shape().rank() == 2 && activation.is_null()) {
      linear.source = flow;
      made.linear = std::make_shared<const Linear>(linear);
    }
  }
  fill(name, "weight", weight_fill(weight, columns_first, std::move(from)));
  if (bias != nullptr) fill(name, "bias", bias_fill(*bias));
  made.positive = is_positive(activation);
  return made;
}

std::vector<Operator> dense_operators() {
  return {{"Gemm", gemm},
          {"MatMul", matmul},
          {"SigmoidPair", sigmoid_pair},
          {"Gather", gather},
          {"GatherND", gather_nd}};
}

}  // namespace dl::convert::onnx
