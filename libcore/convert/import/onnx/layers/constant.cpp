// Values with constants.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/combine.h"

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
  return Constant::of_reals(from.shape(), std::move(all));
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

}  // namespace

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

namespace {

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
  // Masked keys have weight 0 already.
  if (!scores && op == "Mul")
    return masked(site, flow, constant, [](double v) { return v == 0; });
  site.refuse(
      "it changes what an attention attends to; a scale or a causal "
      "mask would be needed");
}

}  // namespace

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

bool is_parameter(const Site& site, std::size_t i) {
  const std::string& name = site.node().input(i);
  const std::string last = name.substr(name.find_last_of("./") + 1);
  constexpr std::string_view kLearnt[] = {"weight", "bias", "gamma", "beta"};
  return std::ranges::find(kLearnt, last) != std::end(kLearnt);
}

namespace {

Flow with_number(Site& site, const Flow& flow, double number,
                 bool constant_first) {
  const std::string& op = site.node().op;
  if (op == "Add") return line(site, flow, 1, number);
  if (op == "Mul") return line(site, flow, number, 0);
  if (op == "Div") return line(site, flow, 1 / number, 0);
  return constant_first ? line(site, flow, -1, number)
                        : line(site, flow, 1, -number);
}

// Offset added by the node behind a Mul along the same axis, which becomes part
// of it; null: nothing.
const Constant* offset_behind(Site& site, const Constant& factor,
                              std::size_t axis, std::size_t rank) {
  const Node* next = site.only_reader();
  if (next == nullptr || next->op != "Add" || !next->domain.empty() ||
      next->in.size() != 2 || next->has("axis"))
    return nullptr;
  const Constant* offset =
      Site(site.import(), *next).constant(next->in[0] == site.output() ? 1 : 0);
  if (offset == nullptr || offset->elements() != factor.elements() ||
      offset->shape().size() > rank)
    return nullptr;
  const Spread other = spread_of(*offset, rank);
  if (other.axes != 1 || other.axis != axis) return nullptr;
  site.take_over(next);
  return offset;
}

}  // namespace

Flow with_constant(Site& site, const Flow& flow, const Constant& given,
                   bool constant_first) {
  const std::string& op = site.node().op;
  const std::size_t rank = flow.axes.size();
  if (flow.attention && flow.attention->stage != Attention::Stage::kMixed &&
      !constant_first)
    return attended_with(site, flow, given);
  site.move_channels(flow);
  if (given.elements() < 1 || given.shape().size() > rank + 1)
    site.refuse("its constant does not fit its input");
  if (op == "Div" && constant_first)
    site.refuse("it divides by a value; a number would be needed");
  const auto [axes, axis] = spread_of(given, rank);
  if (axes == 0) return with_number(site, flow, given.at(0), constant_first);
  if (op == "Sub" && constant_first) {
    const Constant minus_one = Constant::of_reals({}, {-1});
    return scaled_by_each(site, flow, &minus_one, &given);
  }
  const Constant own = op == "Sub" ? mapped(given, [](double v) { return -v; })
                       : op == "Div"
                           ? mapped(given, [](double v) { return 1 / v; })
                           : given;
  const bool adds = op == "Add" || op == "Sub";
  const bool trains = (op == "Add" || op == "Mul") &&
                      is_parameter(site, constant_first ? 0 : 1);
  const Constant* factor = adds ? nullptr : &own;
  const Constant* offset = adds ? &own : nullptr;
  if (axes > 1) {
    if (op == "Add")
      if (auto made = positions(site, flow, given)) return *made;
    return scaled_by_each(site, flow, factor, offset, trains);
  }
  if (axis >= rank)
    site.refuse("its constant has more dimensions than its input");
  if (site.extent_of(flow, axis) != given.elements())
    site.refuse("its constant has " + std::to_string(given.elements()) +
                " numbers for an axis of " +
                std::to_string(site.extent_of(flow, axis)));
  if (op == "Mul") offset = offset_behind(site, given, axis, rank);
  return scaled_by(site, flow, axis, factor, offset, trains);
}

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

}  // namespace dl::convert::onnx
