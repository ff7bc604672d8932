// Normalisations.

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {
namespace {

// null: the same number everywhere.
Fill numbers(const Constant* constant, double fallback) {
  if (constant == nullptr)
    return [fallback](std::span<float> to) {
      std::ranges::fill(to, static_cast<float>(fallback));
    };
  return [constant = *constant](std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(constant.at(constant.elements() == 1 ? 0 : i));
  };
}

void want_count(const Site& site, const Constant* constant,
                std::int64_t count) {
  if (constant != nullptr && constant->elements() != count &&
      constant->elements() != 1)
    site.refuse("it has " + std::to_string(constant->elements()) +
                " factors for " + std::to_string(count) + " channels");
}

const Constant* optional(const Site& site, std::size_t i, const char* what) {
  return site.has(i) ? &site.known(i, what) : nullptr;
}

// Epsilons are to be above 0 here.
double epsilon_of(const Site& site) {
  const double epsilon = site.node().number("epsilon", 1e-5);
  return epsilon > 0 ? epsilon : 1e-12;
}

void batch_norm(Site& site) {
  const Node& node = site.node();
  // Up to opset 13 it is so where it gives its statistics.
  const bool trains =
      node.opset < 7 ? node.integer("is_test", 0) == 0
      : node.opset < 14
          ? std::ranges::any_of(node.out.begin() + 1, node.out.end(),
                                [](const auto& one) { return !one.empty(); })
          : node.integer("training_mode", 0) != 0;
  if (trains) site.refuse("it is in training; export the model in eval mode");
  const Flow& given = site.flow(0);
  if (given.axes.size() < 2) site.refuse("its input has no channels");
  if (given.axes.size() > 2 && node.integer("spatial", 1) == 0)
    site.refuse(
        "it has a mean for each place; one for each channel would be needed");
  Flow flow = given.axes.size() > 2 ? site.image(given, given.axes.size() - 2)
                                    : site.with_last(given, 1);
  const char* names[] = {"gamma", "beta", "running_mean", "running_variance"};
  for (std::size_t i = 0; i < 4; ++i)
    want_count(site, &site.known(i + 1, names[i]), flow.shape().back());
  flow.linear = nullptr;
  flow.positive = false;
  const double momentum = node.number("momentum", 0.9);
  Json layer{{"type", "batch_norm"}, {"epsilon", epsilon_of(site)}};
  if (momentum >= 0 && momentum < 1) layer["decay"] = momentum;
  static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  for (std::size_t i = 0; i < 4; ++i)
    site.fill(flow.node, names[i], numbers(&site.known(i + 1, names[i]), 0));
  site.give(std::move(flow));
}

// Whether weights of a norm differ along the axes alone that it is over.
bool is_along(const Constant* constant, const std::vector<bool>& over) {
  if (constant == nullptr || constant->elements() == 1) return true;
  const Sizes& own = constant->shape();
  std::size_t seen = own.size() > over.size() ? own.size() - over.size() : 0;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k] != 1 && (k < seen || !over[over.size() + k - own.size()]))
      return false;
  return true;
}

// A mean in another shape (pattern.h) is in the one that it has.
void want_kept(const Site& site, const Sizes& given, const Sizes& shape,
               const std::vector<bool>& over) {
  bool same = given.size() == shape.size();
  for (std::size_t k = 0; same && k < shape.size(); ++k)
    same = given[k] == (over[k] ? 1 : shape[k]) || (k == 0 && given[k] < 1);
  if (!same) site.refuse("it subtracts its mean along other axes");
}

// Channels [.., c] in groups; each channel has its factor.  For a series it is
// over all steps, as for an image of one row; the layer sees the steps of a
// sequence by themselves.
Flow group_norm(Site& site, const Flow& given, std::int64_t groups,
                const Constant* gamma, const Constant* beta) {
  Flow flow = given;
  want_count(site, gamma, flow.shape().back());
  want_count(site, beta, flow.shape().back());
  flow.linear = nullptr;
  flow.positive = false;
  Value from = flow;
  const Sizes shape(flow.shape().extents().begin(),
                    flow.shape().extents().end());
  if (shape.size() == 2)
    from = site.reshaped(from, {1, shape[0], shape[1]}, "row");
  const Value made = site.add("",
                              {{"type", "group_norm"},
                               {"groups", groups},
                               {"epsilon", epsilon_of(site)}},
                              {from});
  site.fill(made.node, "gamma", numbers(gamma, 1));
  site.fill(made.node, "beta", numbers(beta, 0));
  static_cast<Value&>(flow) = site.reshaped(made, shape, "series");
  return flow;
}

// A number for each channel of groups [.., groups, channels], as ONNX repeats
// them; none: they differ elsewhere.  null: 1, or 0.
std::optional<Constant> of_channels(const Constant* given, double fallback,
                                    std::int64_t groups, std::int64_t each) {
  Sizes own;
  if (given != nullptr) own = given->shape();
  while (own.size() < 2) own.insert(own.begin(), 1);
  const auto behind = own.end() - 2;
  if (std::any_of(own.begin(), behind, [](auto one) { return one != 1; }))
    return std::nullopt;
  const Constant numbers = Constant::of_reals(
      {behind[0], behind[1]},
      given != nullptr ? given->reals()
                       : std::vector<float>{static_cast<float>(fallback)});
  const auto all = broadcast(numbers, {groups, each});
  if (!all || all->elements() != groups * each) return std::nullopt;
  return Constant::of_reals({groups * each}, all->reals());
}

// Imports a norm of [n, .., groups, channels] over all but the groups, which is
// how group norm is written where it has no operator; false: it is none.
bool layer_norm_of_groups(Site& site, const Flow& given,
                          const std::vector<bool>& over) {
  const std::size_t rank = over.size();
  if (given.axes[0] != Axis{kBatch}) return false;
  for (std::size_t k = 0; k < rank; ++k)
    if (over[k] != (k != 0 && k + 2 != rank)) return false;
  Sizes shape = site.shape(given);
  const std::int64_t groups = shape[rank - 2], each = shape[rank - 1];
  const auto gamma = of_channels(optional(site, 1, "factor"), 1, groups, each);
  const auto beta = of_channels(optional(site, 2, "offset"), 0, groups, each);
  if (!gamma || !beta) return false;
  Sizes joined(shape.begin(), shape.end() - 2);
  joined.push_back(groups * each);
  const Flow flow =
      site.with_last(site.regrouped(given, joined), joined.size() - 1);
  site.give(
      site.regrouped(group_norm(site, flow, groups, &*gamma, &*beta), shape));
  return true;
}

// Axes that a norm is over: from one on, or as a pattern found them.
std::vector<bool> axes_over(Site& site, const Flow& flow) {
  const Node& node = site.node();
  const std::size_t rank = flow.axes.size();
  std::vector<bool> over(rank, false);
  if (node.has("axes"))
    for (const std::int64_t one : node.integers("axes", {}))
      over[site.axis(one, rank)] = true;
  else
    std::fill(over.begin() + static_cast<std::ptrdiff_t>(
                                 site.axis(node.integer("axis", -1), rank)),
              over.end(), true);
  for (std::size_t k = 0; k < rank; ++k)
    if (over[k] && std::ranges::count(flow.axes[k], kBatch) > 0)
      site.refuse("it is over the batch");
  if (std::ranges::count(over, true) == 0) site.refuse("it is over no axis");
  return over;
}

// Axes that go behind the others and become one, and go back.
class Behind {
 public:
  Behind(Site& site, Flow given, const std::vector<bool>& over)
      : flow(std::move(given)), site_(site) {
    const Sizes own_shape = site.shape(flow);
    const std::size_t rank = over.size();
    for (const bool of_norm : {false, true})
      for (std::size_t k = 0; k < rank; ++k)
        if (over[k] == of_norm) order_.push_back(k);
    const std::vector<Axis> own = flow.axes;
    for (std::size_t k = 0; k < rank; ++k) {
      flow.axes[k] = own[order_[k]];
      shape_.push_back(own_shape[order_[k]]);
      if (over[order_[k]]) count *= shape_.back();
    }
    const auto axes = static_cast<std::size_t>(std::ranges::count(over, true));
    first = rank - axes;
    joins_ = axes > 1;
    if (joins_) {
      Sizes joined(shape_.begin(),
                   shape_.begin() + static_cast<std::ptrdiff_t>(first));
      joined.push_back(count);
      flow = site.regrouped(flow, joined);
    }
    flow = site.with_last(flow, first);
    flow.linear = nullptr;
    flow.positive = false;
  }
  Flow back(Flow made) const {
    if (joins_) made = site_.regrouped(made, shape_);
    const std::vector<Axis> turned = made.axes;
    for (std::size_t k = 0; k < order_.size(); ++k)
      made.axes[order_[k]] = turned[k];
    return made;
  }

  Flow flow;  // whose axis `first` they are, the last
  std::size_t first = 0;
  std::int64_t count = 1;  // of its elements

 private:
  Site& site_;
  std::vector<std::size_t> order_;
  Sizes shape_;
  bool joins_ = false;
};

// Weights of a norm that has so many elements, along its axes alone.
void want_weights(const Site& site, const Constant* weights, std::int64_t count,
                  const std::vector<bool>& over) {
  want_count(site, weights, count);
  if (!is_along(weights, over))
    site.refuse("its factors differ along other axes than it is over");
}

void layer_norm(Site& site) {
  const Flow given = site.real(site.flow(0));
  const std::vector<bool> over = axes_over(site, given);
  if (site.has(3))
    want_kept(site, site.known(3, "shape").wholes(), site.shape(given), over);
  const Constant *gamma = optional(site, 1, "factor"),
                 *beta = optional(site, 2, "offset");
  if (!is_along(gamma, over) || !is_along(beta, over))
    if (layer_norm_of_groups(site, given, over)) return;
  const Behind behind(site, given, over);
  want_weights(site, gamma, behind.count, over);
  want_weights(site, beta, behind.count, over);
  Flow flow = behind.flow;
  static_cast<Value&>(flow) = site.add(
      "", {{"type", "layer_norm"}, {"epsilon", epsilon_of(site)}}, {flow});
  site.fill(flow.node, "gamma", numbers(gamma, 1));
  site.fill(flow.node, "beta", numbers(beta, 0));
  site.give(behind.back(std::move(flow)));
}

void group(Site& site) {
  const Flow& given = site.flow(0);
  if (given.axes.size() < 2) site.refuse("its input has no channels");
  const Flow flow = given.axes.size() > 2
                        ? site.image(given, given.axes.size() - 2)
                        : site.with_last(given, 1);
  const std::int64_t groups = site.node().integer("num_groups", 1);
  const Constant &gamma = site.known(1, "factor"),
                 &beta = site.known(2, "offset");
  if (groups < 1 || flow.shape().back() % groups != 0)
    site.refuse("its groups do not divide its channels");
  // Opset 18 has one for each group.
  const auto each = [&](const Constant& c) {
    if (c.elements() != groups || groups == flow.shape().back()) return c;
    std::vector<float> all;
    const std::int64_t channels = flow.shape().back();
    all.reserve(static_cast<std::size_t>(channels));
    for (std::int64_t i = 0; i < channels; ++i)
      all.push_back(static_cast<float>(
          c.at(static_cast<std::size_t>(i / (channels / groups)))));
    return Constant::of_reals({channels}, std::move(all));
  };
  const Constant factor = each(gamma), offset = each(beta);
  site.give(group_norm(site, flow, groups, &factor, &offset));
}

// Instance norm over [n, groups, numbers]: what a reshape made of channels, as
// group norm is written where there is no operator for it, are groups.
void instance(Site& site) {
  const Flow& given = site.flow(0);
  if (given.axes.size() < 3) site.refuse("its input has no places");
  const Constant &gamma = site.known(1, "factor"),
                 &beta = site.known(2, "offset");
  const Axis& channels = given.axes[1];
  if (given.axes.size() == 3 && channels.size() == 1 && channels[0] >= 0 &&
      gamma.uniform() && beta.uniform()) {
    const int group = channels[0], within = group + 1;
    const Axis& rest = given.axes[2];
    if (rest.size() > 1 && rest[0] == within &&
        within == given.shape().rank() - 1) {
      std::vector<Axis> ours;
      ours.reserve(static_cast<std::size_t>(group) + 1);
      for (int k = 0; k < group; ++k) ours.push_back({k});
      ours.push_back({group, within});
      Flow flow;
      static_cast<Value&>(flow) = site.shaped(given, ours);
      const std::int64_t groups = given.shape()[group];
      const auto each = [](const Constant& c) {
        return Constant::of_reals({}, {static_cast<float>(*c.uniform())});
      };
      const Constant factor = each(gamma), offset = each(beta);
      const Flow made = group_norm(site, flow, groups, &factor, &offset);
      Flow back = given;
      back.positive = false;
      const auto extents = given.shape().extents();
      static_cast<Value&>(back) =
          site.reshaped(made, {extents.begin(), extents.end()}, "groups");
      return site.give(std::move(back));
    }
  }
  Flow flow = site.image(given, given.axes.size() - 2);
  site.give(group_norm(site, flow, flow.shape().back(), &gamma, &beta));
}

// The window, and the axes that come and go, of a mean that is spelt out.
void want_over_channels(const Site& site) {
  const Node& node = site.node();
  const Sizes kernel = node.integers("kernel_shape", {});
  bool good = !kernel.empty() && site.known(3, "axis").wholes() == Sizes{1};
  for (std::size_t k = 1; good && k < kernel.size(); ++k) good = kernel[k] == 1;
  for (const char* key : {"strides", "dilations"})
    for (const std::int64_t one : node.integers(key, {}))
      good = good && one == 1;
  for (const std::int64_t one : node.integers("pads", {}))
    good = good && one == 0;
  const Sizes lifted = site.known(1, "shape").wholes();
  good = good && (lifted == Sizes{1} || (lifted.size() > 2 && lifted[1] == 1));
  if (!good || node.text("auto_pad", "NOTSET") != "NOTSET")
    site.refuse("it is over other axes than its channels");
}

// How many channels: where the mean over them is spelt out, that of what they
// are padded with, which comes along behind what they were reshaped by.
std::int64_t window_of(const Site& site) {
  if (site.node().has("size")) return site.node().integer("size", 1);
  want_over_channels(site);
  const Sizes pads = site.known(2, "padding").wholes();
  constexpr std::size_t kChannels = 2;  // behind the batch and an axis of 1
  const std::size_t rank = pads.size() / 2;
  for (std::size_t k = 0; k < pads.size(); ++k)
    if (rank <= kChannels || (pads[k] != 0 && k % rank != kChannels))
      site.refuse("it is over other axes than its channels");
  const std::int64_t before = pads[kChannels], behind = pads[rank + kChannels];
  if (before != behind)
    site.refuse(
        "its window is even, and has more channels before than behind; an odd "
        "one would be needed");
  if (site.node().integers("kernel_shape", {})[0] != before + behind + 1)
    site.refuse("its window is not as wide as its padding");
  return before + behind + 1;
}

void local_response(Site& site) {
  const Node& node = site.node();
  const Flow& given = site.flow(0);
  if (given.axes.size() < 3) site.refuse("its input is no image");
  Flow flow = site.image(given, given.axes.size() - 2);
  const std::int64_t size = window_of(site);
  if (size < 1) site.refuse("its size is below 1");
  static_cast<Value&>(flow) = site.add(
      "",
      {{"type", "local_response_norm"},
       {"window", size},
       {"alpha", node.number("alpha", 1e-4) / static_cast<double>(size)},
       {"beta", node.number("beta", 0.75)},
       {"k", node.number("bias", 1)}},
      {flow});
  flow.linear = nullptr;
  site.give(std::move(flow));
}

// x / sqrt(sum of x^2 + epsilon) along axes that went behind.
Flow of_length_one(Site& site, const Behind& behind, const std::string& part,
                   double epsilon) {
  Flow flow = behind.flow;
  static_cast<Value&>(flow) =
      site.add(part, {{"type", "l2_normalize"}, {"epsilon", epsilon}}, {flow});
  return flow;
}

// For a norm with a floor, the floor is under the root.
void l2_normalize(Site& site) {
  const double floor = site.node().number("floor", 0),
               least = std::max(floor * floor, 1e-30);
  const Flow& given = site.flow(0);
  const Behind behind(site, given, axes_over(site, given));
  site.give(behind.back(
      of_length_one(site, behind, "", site.node().number("epsilon", least))));
}

void lp_normalize(Site& site) {
  if (site.node().integer("p", 2) != 2)
    site.refuse("it divides by a sum of sizes; a p of 2 would be needed");
  const Flow& given = site.flow(0);
  std::vector<bool> over(given.axes.size(), false);
  over[site.axis(site.node().integer("axis", -1), over.size())] = true;
  const Behind behind(site, given, over);
  site.give(behind.back(of_length_one(site, behind, "", 1e-30)));
}

// The mean of squares is their sum by their count.
void rms_norm(Site& site) {
  const Flow given = site.real(site.flow(0));
  const std::vector<bool> over = axes_over(site, given);
  const Constant* weight = optional(site, 1, "factor");
  const Behind behind(site, given, over);
  want_weights(site, weight, behind.count, over);
  const auto count = static_cast<double>(behind.count);
  const double root = std::sqrt(count);
  Flow flow = of_length_one(site, behind, weight != nullptr ? "unit" : "length",
                            epsilon_of(site) * count);
  if (weight == nullptr) {
    static_cast<Value&>(flow) =
        site.add("", {{"type", "scale"}, {"factor", root}}, {flow});
    return site.give(behind.back(std::move(flow)));
  }
  std::vector<float> all = weight->reals();
  for (float& one : all) one = static_cast<float>(one * root);
  const Constant factor = Constant::of_reals(weight->shape(), std::move(all));
  site.give(
      behind.back(scaled_by(site, flow, behind.first, &factor, nullptr, true)));
}

}  // namespace

Flow scaled_by(Site& site, const Flow& given, std::size_t axis,
               const Constant* factor, const Constant* offset, bool trains) {
  Flow flow = site.with_last(given, axis);
  flow.linear = nullptr;
  flow.positive = false;
  Json layer{{"type", "element_multiply"}};
  if (!trains && !site.import().inputs->all_frozen) layer["frozen"] = true;
  static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  site.fill(flow.node, "weight", numbers(factor, 1));
  site.fill(flow.node, "bias", numbers(offset, 0));
  return flow;
}

Flow scaled_by_each(Site& site, const Flow& given, const Constant* factor,
                    const Constant* offset, bool trains) {
  const Flow flow = site.plain(given);
  Sizes shape = site.shape(flow);
  std::vector<int> order;  // which axis of ONNX's each of ours is
  for (int one = 0; one < flow.shape().rank(); ++one)
    for (std::size_t k = 0; k < flow.axes.size(); ++k)
      if (std::ranges::count(flow.axes[k], one) > 0)
        order.push_back(static_cast<int>(k));
  for (std::size_t k = 0; k < flow.axes.size(); ++k)
    if (std::ranges::count(flow.axes[k], kBatch) > 0) {
      shape[k] = 1;
      std::erase(order, static_cast<int>(k));
      order.insert(order.begin(), static_cast<int>(k));
    } else if (flow.axes[k].empty()) {
      order.insert(order.begin(), static_cast<int>(k));
    }
  const auto laid = [&](const Constant* c) -> std::optional<Constant> {
    if (c == nullptr) return std::nullopt;
    const auto all = broadcast(*c, shape);
    if (!all || all->elements() != flow.shape().elements())
      site.refuse("its constant does not fit its input");
    return transposed(*all, order);
  };
  const auto w = laid(factor), b = laid(offset);
  Flow row;
  static_cast<Value&>(row) =
      site.reshaped(flow, {flow.shape().elements()}, "flat");
  row.axes = {{kBatch}, {0}};
  row = scaled_by(site, row, 1, w ? &*w : nullptr, b ? &*b : nullptr, trains);
  Flow made = flow;
  made.linear = nullptr;
  made.positive = false;
  const auto extents = flow.shape().extents();
  static_cast<Value&>(made) =
      site.reshaped(row, {extents.begin(), extents.end()}, "each");
  return made;
}

std::vector<Operator> norm_operators() {
  return {{"BatchNormalization", batch_norm},
          {"LayerNormalization", layer_norm},
          {"GroupNormalization", group},
          {"InstanceNormalization", instance},
          {"LRN", local_response},
          {"L2Normalize", l2_normalize},
          {"LpNormalization", lp_normalize},
          {"RMSNormalization", rms_norm}};
}

}  // namespace dl::convert::onnx
