// Several values as one, and values with constants.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/numbers.h"
#include "libcore/convert/import/onnx/pattern.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

// Along which axis of [..] the constant's numbers differ; none: several.
struct Spread {
  std::size_t axes = 0;  // along how many
  std::size_t axis = 0;  // along which, if one
};
Spread spread_of(const Constant& constant, std::size_t rank) {
  Spread spread;
  const Sizes& own = constant.shape();
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] != 1) {
      ++spread.axes;
      spread.axis = rank + k - own.size();
    }
  return spread;
}

Flow unary(Site& site, const Flow& given, const char* part, Json layer) {
  Flow flow = site.real(given);
  static_cast<Value&>(flow) = site.add(part, std::move(layer), {flow});
  flow.linear = nullptr;
  flow.positive = false;
  return flow;
}

Constant mapped(const Constant& from, double (*f)(double)) {
  std::vector<float> all = from.reals();
  for (float& one : all) one = static_cast<float>(f(one));
  const auto size = static_cast<std::int64_t>(all.size());
  return Constant::of_reals({size}, std::move(all));
}

// Whether a mask lets query i see keys up to i alone, or (all) everything;
// seen, hidden: what it says of them.
enum class Mask { kAll, kCausal, kOther };
Mask mask_of(const Constant& mask, const tensor::Shape& scores,
             bool (*hides)(double)) {
  const auto all = broadcast(mask, {scores[1], scores[2]});
  const Sizes& own = mask.shape();
  Constant last = mask;
  if (!all && own.size() > 2 && mask.elements() == scores[1] * scores[2])
    last = mask.reshaped({scores[1], scores[2]});
  const Constant* seen = all ? &*all : &last;
  if (seen->elements() != scores[1] * scores[2]) return Mask::kOther;
  bool none = true, causal = true;
  for (std::int64_t i = 0; i < scores[1]; ++i)
    for (std::int64_t j = 0; j < scores[2]; ++j) {
      const bool hidden =
          hides(seen->at(static_cast<std::size_t>(i * scores[2] + j)));
      none = none && !hidden;
      causal = causal && hidden == (j > i);
    }
  return none ? Mask::kAll : causal ? Mask::kCausal : Mask::kOther;
}

Flow masked(Site& site, const Flow& given, const Constant& mask,
            bool (*hides)(double)) {
  const Mask kind = mask_of(mask, given.shape(), hides);
  if (kind == Mask::kOther)
    site.refuse(
        "its mask is a constant that is not causal; a causal one or none would "
        "be needed");
  Flow flow = given;
  Attention next = *given.attention;
  next.causal = next.causal || kind == Mask::kCausal;
  flow.attention = std::make_shared<const Attention>(std::move(next));
  return flow;
}

// Scores and weights of an attention: what scales them, and what masks them.
Flow attended_with(Site& site, const Flow& flow, const Constant& constant) {
  const std::string& op = site.node().op;
  const bool scores = flow.attention->stage == Attention::Stage::kScores;
  if (scores && (op == "Mul" || op == "Div") && constant.elements() == 1) {
    Flow made = flow;
    Attention next = *flow.attention;
    next.scale *= op == "Mul" ? constant.at(0) : 1 / constant.at(0);
    made.attention = std::make_shared<const Attention>(std::move(next));
    return made;
  }
  if (scores && op == "Add")
    return masked(site, flow, constant, [](double v) { return v < -1e4; });
  // What is not seen has weight 0 already.
  if (!scores && op == "Mul")
    return masked(site, flow, constant, [](double v) { return v == 0; });
  site.refuse(
      "it changes what an attention attends to; a scale or a causal "
      "mask would be needed");
}

// A table [steps, features] that is added to each example.
std::optional<Flow> positions(Site& site, const Flow& given,
                              const Constant& table) {
  const Sizes shape = site.shape(given);
  if (table.elements() > kMostFolded) return std::nullopt;
  std::vector<std::size_t> axes;
  const Sizes& own = table.shape();
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] != 1) axes.push_back(shape.size() + k - own.size());
  if (own.size() > shape.size() || axes.size() != 2) return std::nullopt;
  if (!given.node.empty() && given.form.tokens) return std::nullopt;
  Flow flow = site.plain(given);
  if (flow.shape().rank() != 2 || flow.axes[axes[0]].size() != 1 ||
      table.elements() != flow.shape().elements())
    return std::nullopt;
  flow = site.with_last(flow, axes[1]);
  Flow made = flow;
  static_cast<Value&>(made) =
      site.add("", {{"type", "positional_embedding"}}, {flow});
  site.fill(made.node, "weight", [table](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(table.at(i));
  });
  made.linear = nullptr;
  made.positive = false;
  return made;
}

}  // namespace

bool is_parameter(const Site& site, std::size_t i) {
  const std::string& name = site.node().input(i);
  const std::string last = name.substr(name.find_last_of("./") + 1);
  constexpr std::string_view kLearnt[] = {"weight", "bias", "gamma", "beta"};
  return std::ranges::find(kLearnt, last) != std::end(kLearnt);
}

namespace {

// A constant that differs along several axes.
Flow with_each(Site& site, const Flow& flow, const Constant& given,
               bool constant_first) {
  const std::string& op = site.node().op;
  const bool trains = is_parameter(site, constant_first ? 0 : 1);
  if (op == "Add") return scaled_by_each(site, flow, nullptr, &given, trains);
  if (op == "Mul") return scaled_by_each(site, flow, &given, nullptr, trains);
  if (op == "Div" && constant_first)
    site.refuse("it divides by a value; a number would be needed");
  const bool minus = op == "Sub";
  if (minus && constant_first) {
    const Constant minus_one = Constant::of_reals({}, {-1});
    return scaled_by_each(site, flow, &minus_one, &given);
  }
  const Constant other = mapped(
                             given, minus ? [](double v) { return -v; }
                                          : [](double v) { return 1 / v; })
                             .reshaped(given.shape());
  return minus ? scaled_by_each(site, flow, nullptr, &other)
               : scaled_by_each(site, flow, &other, nullptr);
}

Flow with_constant(Site& site, const Flow& flow, const Constant& given,
                   bool constant_first) {
  const std::string& op = site.node().op;
  if (flow.attention && flow.attention->stage != Attention::Stage::kMixed &&
      !constant_first)
    return attended_with(site, flow, given);
  site.move_channels(flow);
  const Spread spread = spread_of(given, flow.axes.size());
  if (given.elements() < 1 || given.shape().size() > flow.axes.size() + 1)
    site.refuse("its constant does not fit its input");
  if (spread.axes == 0) {
    const double number = given.at(0);
    if (op == "Add") return line(site, flow, 1, number);
    if (op == "Mul") return line(site, flow, number, 0);
    if (op == "Sub")
      return constant_first ? line(site, flow, -1, number)
                            : line(site, flow, 1, -number);
    if (op == "Div" && !constant_first && number != 0)
      return line(site, flow, 1 / number, 0);
    site.refuse("it divides by a value; a number would be needed");
  }
  if (spread.axes > 1) {
    if (op == "Add")
      if (auto made = positions(site, flow, given)) return *made;
    return with_each(site, flow, given, constant_first);
  }
  if (constant_first && op == "Sub") {
    const Constant minus_one = Constant::of_reals({}, {-1});
    return scaled_by_each(site, flow, &minus_one, &given);
  }
  if (constant_first && op == "Div")
    site.refuse("it divides by a value; a number would be needed");
  if (spread.axis >= flow.axes.size())
    site.refuse("its constant has more dimensions than its input");
  if (site.extent_of(flow, spread.axis) != given.elements())
    site.refuse("its constant has " + std::to_string(given.elements()) +
                " numbers for an axis of " +
                std::to_string(site.extent_of(flow, spread.axis)));
  const bool trains = is_parameter(site, constant_first ? 0 : 1);
  if (op == "Add")
    return scaled_by(site, flow, spread.axis, nullptr, &given, trains);
  if (op == "Mul") {
    // What is added to it next belongs to it.
    const Node* next = site.only_reader();
    if (next != nullptr && next->op == "Add" && next->domain.empty() &&
        next->in.size() == 2) {
      const Site adder(site.import(), *next);
      const Constant* offset =
          adder.constant(next->in[0] == site.output() ? 1 : 0);
      if (offset != nullptr && offset->elements() == given.elements() &&
          offset->shape().size() <= flow.axes.size()) {
        const Spread other = spread_of(*offset, flow.axes.size());
        if (other.axes == 1 && other.axis == spread.axis) {
          site.take_over(next);
          return scaled_by(site, flow, spread.axis, &given, offset, trains);
        }
      }
    }
    return scaled_by(site, flow, spread.axis, &given, nullptr, trains);
  }
  if (op == "Sub") {
    const Constant minus = mapped(given, [](double v) { return -v; });
    return scaled_by(site, flow, spread.axis, nullptr, &minus);
  }
  const Constant part = mapped(given, [](double v) { return 1 / v; });
  return scaled_by(site, flow, spread.axis, &part, nullptr);
}

Flow together(Site& site, const char* type) {
  std::vector<Flow> flows;
  flows.reserve(site.node().in.size());
  for (std::size_t i = 0; i < site.node().in.size(); ++i)
    flows.push_back(site.flow(i));
  flows = site.alike(flows);
  Flow made = flows[0];
  made.positive = std::string_view(type) != "subtract" &&
                  std::ranges::all_of(flows, &Flow::positive);
  const std::vector<Value> values(flows.begin(), flows.end());
  static_cast<Value&>(made) = site.add("", {{"type", type}}, values);
  return made;
}

void binary(Site& site, const char* type) {
  if (site.node().in.size() != 2) site.refuse("it takes two inputs");
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (const Constant* constant = site.constant(i)) {
      if (site.constant(1 - i) != nullptr)
        site.refuse(
            "it computes with constants in a way that is not worked "
            "out");
      return site.give(
          with_constant(site, site.flow(1 - i), *constant, i == 0));
    }
  if (type == nullptr)
    site.refuse(
        "it divides two computed values; a constant divisor would be "
        "needed");
  site.give(together(site, type));
}

void add(Site& site) { binary(site, "add"); }
void subtract(Site& site) { binary(site, "subtract"); }
void multiply(Site& site) { binary(site, "multiply"); }
void divide(Site& site) { binary(site, nullptr); }

void several(Site& site, const char* type) {
  for (std::size_t i = 0; i < site.node().in.size(); ++i)
    if (site.constant(i) != nullptr)
      site.refuse("one of its inputs is a constant; values would be needed");
  if (site.node().in.size() == 1) return site.give(site.flow(0));
  site.give(together(site, type));
}
void sum(Site& site) { several(site, "add"); }
void mean(Site& site) { several(site, "average"); }

void bound(Site& site, const char* type) {
  if (auto made = bounded_by(site, std::string_view(type) == "max"))
    return site.give(std::move(*made));
  several(site, type);
}
void largest(Site& site) { bound(site, "max"); }
void smallest(Site& site) { bound(site, "min"); }

void negate(Site& site) { site.give(line(site, site.flow(0), -1, 0)); }

// Whole powers are products: of squares, and of squares of these.
void power(Site& site) {
  const Constant& exponent = site.known(1, "exponent");
  const double given = exponent.elements() == 1 ? exponent.at(0) : 0;
  constexpr int kMost = 16;
  if (given != std::round(given) || given < 1 || given > kMost)
    site.refuse(
        "its exponent is not a whole number from 1 to 16; a layer of "
        "powers would be needed");
  auto left = static_cast<int>(given);
  Flow square = site.real(site.flow(0));
  std::optional<Flow> made;
  for (; left > 0; left /= 2) {
    if (left % 2 != 0 && made) {
      const bool positive = made->positive && square.positive;
      static_cast<Value&>(*made) =
          site.add("", {{"type", "multiply"}}, {*made, square});
      made->positive = positive;
      made->linear = nullptr;
    } else if (left % 2 != 0) {
      made = square;
    }
    if (left > 1) square = squared(site, square);
  }
  site.give(std::move(*made));
}

// The values of a Concat side by side.
Flow joined(Site& site, const std::vector<Flow>& flows) {
  if (flows.size() == 1) return flows[0];
  const std::size_t rank = flows[0].axes.size();
  const std::size_t axis = site.axis(site.node().integer("axis", 0), rank);
  // All in the order of the first, with the axis in it, though it be of 1.
  std::vector<std::size_t> order;
  for (int one = 0; one < flows[0].shape().rank(); ++one)
    for (std::size_t k = 0; k < rank; ++k)
      if (flows[0].axes[k] == Axis{one}) order.push_back(k);
  if (std::ranges::count(order, axis) == 0) order.push_back(axis);
  Flow made;
  made.positive = std::ranges::all_of(flows, &Flow::positive);
  std::vector<Value> values;
  for (const Flow& flow : flows) {
    std::vector<Axis> ours;
    for (std::size_t k = 0; k < rank; ++k)
      if (flow.axes.size() != rank ||
          (std::ranges::count(flow.axes[k], kBatch) > 0) !=
              (std::ranges::count(flows[0].axes[k], kBatch) > 0) ||
          (k != axis && site.extent_of(flow, k) != site.extent_of(flows[0], k)))
        site.refuse("its inputs differ along other axes than its own");
    for (const std::size_t k : order) {
      if (flow.axes[k].size() > 1 ||
          std::ranges::count(flow.axes[k], kBatch) > 0)
        site.refuse("it is along the batch");
      ours.push_back(flow.axes[k]);
    }
    values.push_back(site.shaped(flow, ours));
  }
  const auto at = std::ranges::find(order, axis) - order.begin();
  Json layer{{"type", "merge"}};
  if (at + 1 != static_cast<std::ptrdiff_t>(order.size())) layer["axis"] = at;
  static_cast<Value&>(made) = site.add("", std::move(layer), values);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto found = std::ranges::find(order, k);
    if (found != order.end())
      made.axes.push_back({static_cast<int>(found - order.begin())});
    else
      made.axes.push_back(std::ranges::count(flows[0].axes[k], kBatch) > 0
                              ? Axis{kBatch}
                              : Axis{});
  }
  return made;
}

// A constant between values, with an axis of 1 for the batch.
Constant of_one_example(Site& site, const Constant& given, const Flow& like,
                        std::size_t axis) {
  Sizes shape = site.shape(like);
  if (given.shape().size() != shape.size())
    site.refuse("its inputs have other numbers of dimensions");
  Constant one = given;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (std::ranges::count(like.axes[k], kBatch) == 0) continue;
    shape[k] = 1;
    if (k == axis) site.refuse("it is along the batch");
    if (given.shape()[k] == 1) continue;
    const auto count = static_cast<std::size_t>(given.elements()),
               inner = count / static_cast<std::size_t>(given.shape()[0]);
    for (std::size_t i = 0; k == 0 && i < count; ++i)
      if (given.at(i) != given.at(i % inner)) k = shape.size();
    if (k != 0) site.refuse("its constant is another one for each example");
    std::vector<float> all = given.reals();
    all.resize(inner);
    Sizes own = given.shape();
    own[0] = 1;
    one = Constant::of_reals(own, std::move(all));
  }
  shape[axis] = one.shape()[axis];
  const auto made = broadcast(one, shape);
  if (!made || made->elements() > kMostFolded)
    site.refuse("its inputs differ along other axes than its own");
  return *made;
}

// Constants beside values: zeros in their place, to which they are added.
void concatenate(Site& site) {
  std::vector<Flow> flows;
  const std::size_t count = site.node().in.size();
  const Flow* like = nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (site.constant(i) == nullptr) like = &site.flow(i);
  if (like == nullptr) site.refuse("it has no inputs");
  const std::size_t axis =
      site.axis(site.node().integer("axis", 0), like->axes.size());
  std::vector<Constant> table;
  std::int64_t ahead = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (const Constant* given = site.constant(i)) {
      table.push_back(of_one_example(site, *given, *like, axis));
      ahead += table.back().shape()[axis];
      continue;
    }
    Flow flow = site.plain(site.flow(i));
    Sizes shape = site.shape(flow);
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (std::ranges::count(flow.axes[k], kBatch) > 0) shape[k] = 1;
    table.push_back(Constant::of_reals(shape, {0}));
    if (ahead > 0) flow = with_zeros_along(site, flow, axis, ahead, 0);
    ahead = 0;
    flows.push_back(std::move(flow));
  }
  const bool constants = flows.size() < count;
  if (ahead > 0)
    flows.back() = with_zeros_along(site, flows.back(), axis, 0, ahead);
  Flow made = joined(site, flows);
  if (!constants) return site.give(std::move(made));
  std::vector<const Constant*> parts;
  parts.reserve(table.size());
  for (const Constant& one : table) parts.push_back(&one);
  const auto all = folded(site.node(), parts);
  if (!all) site.refuse("its inputs differ along other axes than its own");
  if (auto placed = positions(site, made, *all))
    return site.give(std::move(*placed));
  site.give(scaled_by_each(site, made, nullptr, &*all));
}

// A constant that hides what a query does not see.
void where(Site& site) {
  const Constant& condition = site.known(0, "condition");
  const Constant* hidden = site.constant(2);
  const std::size_t scores = hidden != nullptr ? 1 : 2;
  const Constant* other = site.constant(3 - scores);
  const Flow& flow = site.flow(scores);
  if (!flow.attention || flow.attention->stage != Attention::Stage::kScores ||
      other == nullptr || !other->uniform() || *other->uniform() > -1e4)
    site.refuse(
        "it chooses between two values; the mask of an attention would "
        "be needed");
  site.give(
      scores == 1
          ? masked(site, flow, condition, [](double v) { return v == 0; })
          : masked(site, flow, condition, [](double v) { return v != 0; }));
}

// Along the last axis of two values.
void of_vectors(Site& site, const char* type) {
  const Node& node = site.node();
  std::vector<Flow> flows = site.alike({site.flow(0), site.flow(1)});
  const std::size_t rank = flows[0].axes.size();
  const Sizes axes = node.integers("axes", {});
  if (axes.size() != 1) site.refuse("it sums up more than one axis");
  const std::size_t axis = site.axis(axes[0], rank);
  for (Flow& flow : flows) flow = site.with_last(flow, axis);
  Json layer{{"type", type}};
  if (node.has("epsilon")) layer["epsilon"] = node.number("epsilon", 0);
  Flow made = flows[0];
  static_cast<Value&>(made) =
      site.add("", std::move(layer), {flows[0], flows[1]});
  made.linear = nullptr;
  made.positive = false;
  if (node.integer("keepdims", 1) == 0)
    made = site.squeezed(std::move(made), {axis});
  site.give(std::move(made));
}
void dot(Site& site) { of_vectors(site, "dot"); }
void distance(Site& site) { of_vectors(site, "l2_distance"); }

}  // namespace

Flow squared(Site& site, const Flow& given) {
  Flow flow = site.real(given);
  static_cast<Value&>(flow) =
      site.add("", {{"type", "multiply"}}, {flow, flow});
  flow.linear = nullptr;
  flow.positive = true;
  return flow;
}

Flow line(Site& site, const Flow& given, double factor, double amount) {
  Flow flow = given;
  if (!std::isfinite(factor) || !std::isfinite(amount))
    site.refuse("its constant is not finite");
  if (factor != 1) {
    const auto linear = flow.linear;
    flow = unary(site, flow, amount == 0 ? "" : "factor",
                 {{"type", "scale"}, {"factor", factor}});
    if (linear) {
      Linear scaled = *linear;
      scaled.factor *= factor;
      flow.linear = std::make_shared<const Linear>(std::move(scaled));
    }
  }
  if (amount != 0)
    flow = unary(site, flow, "", {{"type", "shift"}, {"amount", amount}});
  return flow;
}

std::vector<Operator> combine_operators() {
  return {{"Add", add},
          {"Sub", subtract},
          {"Mul", multiply},
          {"Div", divide},
          {"Sum", sum},
          {"Mean", mean},
          {"Max", largest},
          {"Min", smallest},
          {"Neg", negate},
          {"Pow", power},
          {"Concat", concatenate},
          {"Where", where},
          {"Dot", dot},
          {"L2Distance", distance}};
}

}  // namespace dl::convert::onnx
