// Pools by windows, and what is reduced along axes.

#include <algorithm>

#include "libcore/convert/import/onnx/pattern.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

Sizes extents_of(const Value& value) {
  return {value.shape().extents().begin(), value.shape().extents().end() - 1};
}

// Padding in numbers where layers here pad to the same size alone: with
// windows at each place, of which every stride-th is taken.
Value at_each_place(Site& site, const Value& value, Window window, Json layer) {
  const Sizes stride = window.stride;
  std::fill(window.stride.begin(), window.stride.end(), 1);
  for (std::size_t k = 0; k < window.axes(); ++k)
    if (window.begin[k] != (window.kernel[k] - 1) / 2 ||
        window.kernel[k] % 2 == 0 || window.end[k] < window.begin[k] ||
        window.end[k] - window.begin[k] >= stride[k])
      site.refuse(
          "its pads are neither none nor those of \"same\"; a pool with "
          "padding "
          "in numbers would be needed");
  window.put_into(layer, false, "same");
  const Value each = site.add("places", layer, {value});
  window.kernel.assign(window.axes(), 1);
  window.stride = stride;
  Json some{{"type", "max_pool" + std::to_string(window.axes()) + "d"}};
  window.put_into(some, false, "valid");
  return site.add("", std::move(some), {each});
}

template <bool kMax>
void pool(Site& site) {
  const Node& node = site.node();
  const Sizes kernel = node.integers("kernel_shape", {});
  if (kernel.empty() || kernel.size() > 3)
    site.refuse("its window has " + std::to_string(kernel.size()) +
                " axes; 1 to 3 would be needed");
  Flow flow = site.image(site.flow(0), kernel.size());
  const Sizes extents = extents_of(flow);
  Window window = window_of(site, kernel, extents);
  if (std::ranges::any_of(window.dilation, [](auto d) { return d != 1; }))
    site.refuse("its window has gaps; one without would be needed");
  const bool counts = !kMax && node.integer("count_include_pad", 0) != 0;
  Json layer{{"type", (kMax ? "max_pool" : "average_pool") +
                          std::to_string(kernel.size()) + "d"}};
  const bool ceil = node.integer("ceil_mode", 0) != 0;
  Value value = flow;
  if (!window.padded() || (window.is_same(extents) && !counts)) {
    window.put_into(layer, false, window.padded() ? "same" : "valid");
    value = site.add("", std::move(layer), {value});
  } else if ((kMax && flow.positive) || (counts && !ceil)) {
    // Zeros are no larger than the others, or count.
    value = zero_padded(site, value, window.begin, window.end);
    window.put_into(layer, false, "valid");
    value = site.add("", std::move(layer), {value});
  } else if (counts) {
    site.refuse(
        "it counts its padding and has ceil_mode; one of them would be "
        "needed");
  } else {
    value = at_each_place(site, value, window, std::move(layer));
  }
  static_cast<Value&>(flow) = value;
  site.give(std::move(flow));
}

// What is left when axes are reduced: all others, of one or several.
Flow reduced(Site& site, const Flow& given, const std::vector<bool>& gone,
             bool keep, const char* kind) {
  const Flow flow = site.plain(given);
  Axis lost, left;
  Flow made;
  Sizes shape;
  for (std::size_t k = 0; k < flow.axes.size(); ++k) {
    const bool batch = std::ranges::count(flow.axes[k], kBatch) > 0;
    if (batch && gone[k]) site.refuse("it reduces the batch");
    if (gone[k]) {
      lost.insert(lost.end(), flow.axes[k].begin(), flow.axes[k].end());
      if (keep) made.axes.emplace_back();
      continue;
    }
    if (batch || flow.axes[k].empty()) {
      made.axes.push_back(flow.axes[k]);
      continue;
    }
    made.axes.push_back({static_cast<int>(shape.size())});
    shape.push_back(flow.shape()[flow.axes[k][0]]);
    left.push_back(flow.axes[k][0]);
  }
  if (lost.empty()) {  // over one place each, which is what it gives
    std::vector<std::size_t> ones;
    for (std::size_t k = 0; k < gone.size() && !keep; ++k)
      if (gone[k]) ones.push_back(k);
    return site.squeezed(given, std::move(ones));
  }
  // Places in their own order: which comes first does not matter.
  std::ranges::sort(lost);
  static_cast<Value&>(made) =
      site.add("", {{"type", "global_pool"}, {"kind", kind}},
               {site.shaped(flow, {lost, left})});
  made.positive = flow.positive;
  if (shape.empty())
    for (Axis& axis : made.axes)
      if (axis == Axis{kBatch}) axis.push_back(0);
  if (shape.size() > 1)
    static_cast<Value&>(made) = site.reshaped(made, shape, "back");
  return made;
}

void reduce(Site& site, const char* kind) {
  const Node& node = site.node();
  const Flow& flow = site.flow(0);
  std::vector<bool> gone(flow.axes.size(), false);
  const auto axes = site.list(1, "axes");
  for (const std::int64_t axis : axes.value_or(Sizes{}))
    gone[site.axis(axis, gone.size())] = true;
  if (!axes || axes->empty()) {
    if (node.integer("noop_with_empty_axes", 0) != 0) return site.give(flow);
    site.refuse("it reduces the batch as well");
  }
  site.give(reduced(site, flow, gone, node.integer("keepdims", 1) != 0, kind));
}

void global(Site& site, const char* kind) {
  const Flow& flow = site.flow(0);
  std::vector<bool> gone(flow.axes.size(), true);
  for (std::size_t k = 0; k < gone.size() && k < 2; ++k) gone[k] = false;
  // Channels come last in images.
  site.give(reduced(site,
                    site.image(flow, gone.size() < 2 ? 0 : gone.size() - 2),
                    gone, true, kind));
}

void reduce_mean(Site& site) { reduce(site, "average"); }
void reduce_max(Site& site) { reduce(site, "max"); }
void reduce_sum(Site& site) { reduce(site, "sum"); }
void global_average(Site& site) { global(site, "average"); }
void global_max(Site& site) { global(site, "max"); }

}  // namespace

std::vector<Operator> pool_operators() {
  return {{"MaxPool", pool<true>},
          {"AveragePool", pool<false>},
          {"GlobalAveragePool", global_average},
          {"GlobalMaxPool", global_max},
          {"ReduceMean", reduce_mean},
          {"ReduceMax", reduce_max},
          {"ReduceSum", reduce_sum}};
}

}  // namespace dl::convert::onnx
