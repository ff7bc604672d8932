// Several values as one.

#include "libcore/convert/import/onnx/combine.h"

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/older.h"

namespace dl::convert::onnx {
namespace {

Flow together(Site& site, const char* type, const std::vector<Flow>& given) {
  const std::vector<Flow> flows = site.alike(given);
  Flow made = flows[0];
  made.positive = std::string_view(type) != "subtract" &&
                  std::ranges::all_of(flows, &Flow::positive);
  const std::vector<Value> values(flows.begin(), flows.end());
  static_cast<Value&>(made) = site.add("", {{"type", type}}, values);
  return made;
}

void binary(Site& site, const char* type) {
  const Node& node = site.node();
  if (node.in.size() != 2) site.refuse("it takes two inputs");
  const Constant *a = site.constant(0), *b = site.constant(1);
  if (a != nullptr && b != nullptr)
    site.refuse(
        "it computes with constants in a way that is not worked "
        "out");
  if (b != nullptr) {
    const Flow& flow = site.flow(0);
    Sizes shape = b->shape();
    shape.insert(shape.end(), axes_behind(node, flow.axes.size(), shape.size()),
                 1);
    return site.give(
        with_constant(site, flow, b->reshaped(std::move(shape)), false));
  }
  Flow second = site.flow(1);
  const std::size_t rank =
      a != nullptr ? a->shape().size() : site.flow(0).axes.size();
  second.axes.insert(second.axes.end(),
                     axes_behind(node, rank, second.axes.size()), Axis{});
  if (a != nullptr) return site.give(with_constant(site, second, *a, true));
  if (type == nullptr)
    site.refuse(
        "it divides two computed values; a constant divisor would be "
        "needed");
  site.give(together(site, type, {site.flow(0), second}));
}

void add(Site& site) { binary(site, "add"); }
void subtract(Site& site) { binary(site, "subtract"); }
void multiply(Site& site) { binary(site, "multiply"); }
void divide(Site& site) { binary(site, nullptr); }

void several(Site& site, const char* type) {
  std::vector<Flow> flows;
  flows.reserve(site.node().in.size());
  for (std::size_t i = 0; i < site.node().in.size(); ++i) {
    if (site.constant(i) != nullptr)
      site.refuse("one of its inputs is a constant; values would be needed");
    flows.push_back(site.flow(i));
  }
  site.give(flows.size() == 1 ? flows[0] : together(site, type, flows));
}
void sum(Site& site) { several(site, "add"); }
void mean(Site& site) { several(site, "average"); }

// The bounds are 0 x + c.
Flow bounded_by_each(Site& site, const Flow& flow, const Constant& bounds,
                     bool largest) {
  const Constant nothing = Constant::of_reals({}, {0});
  Flow made = site.plain(flow);
  const Flow bound = scaled_by_each(site, made, &nothing, &bounds);
  static_cast<Value&>(made) =
      site.add("", {{"type", largest ? "max" : "min"}}, {made, bound});
  made.linear = nullptr;
  made.positive = false;
  return made;
}

void bound(Site& site, const char* type) {
  const bool largest = std::string_view(type) == "max";
  if (auto made = bounded_by(site, largest)) return site.give(std::move(*made));
  if (site.node().in.size() == 2)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (const Constant* each = site.constant(i); each != nullptr)
        return site.give(
            bounded_by_each(site, site.flow(1 - i), *each, largest));
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

// A constant that hides what a query does not see.
void where(Site& site) {
  const Constant& condition = site.known(0, "condition");
  const Constant* hidden = site.constant(2);
  const std::size_t scores = hidden != nullptr ? 1 : 2;
  const Constant* other = site.constant(3 - scores);
  const Flow& flow = site.flow(scores);
  // A number in place of some, whichever the example.
  if (!flow.attention && other != nullptr && other->uniform() &&
      std::isfinite(*other->uniform()) && !condition.repeats()) {
    std::vector<float> kept = condition.reals(), put;
    for (float& one : kept) {
      one = (one != 0) == (scores == 1) ? 1.0F : 0.0F;
      put.push_back((1 - one) * static_cast<float>(*other->uniform()));
    }
    const Constant factor =
        Constant::of_reals(condition.shape(), std::move(kept));
    const Constant offset =
        Constant::of_reals(condition.shape(), std::move(put));
    return site.give(scaled_by_each(site, flow, &factor, &offset));
  }
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
  for (Flow& flow : flows) {
    flow = site.with_last(flow, axis);
    if (node.op == "CosineSimilarity")
      static_cast<Value&>(flow) = site.add(
          "length", {{"type", "l2_normalize"}, {"epsilon", 1e-16}}, {flow});
  }
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
          {"CosineSimilarity", dot},
          {"L2Distance", distance}};
}

}  // namespace dl::convert::onnx
