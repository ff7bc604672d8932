// Pools by windows, and what is reduced along axes.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/pattern.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

Sizes extents_of(const Value& value) {
  return {value.shape().extents().begin(), value.shape().extents().end() - 1};
}

// Padding in numbers where layers here pad to the same size alone: with
// windows at each place, of which every stride-th is taken.
bool has_each_place(const Window& window, const Sizes& extents) {
  for (std::size_t k = 0; k < window.axes(); ++k)
    if (window.kernel[k] % 2 == 0 ||
        window.begin[k] != (window.kernel[k] - 1) / 2 ||
        window.places(extents[k], k) !=
            (extents[k] + window.stride[k] - 1) / window.stride[k])
      return false;
  return true;
}

Value at_each_place(Site& site, const Value& value, Window window, Json layer) {
  const Sizes stride = window.stride;
  std::fill(window.stride.begin(), window.stride.end(), 1);
  window.put_into(layer, false, "same");
  const Value each = site.add("places", layer, {value});
  window.kernel.assign(window.axes(), 1);
  window.stride = stride;
  Json some{{"type", "max_pool" + std::to_string(window.axes()) + "d"}};
  window.put_into(some, false, "valid");
  return site.add("", std::move(some), {each});
}

// What is largest in a window is so if the edges stand beside it once more.
Flow with_edges(Site& site, const Flow& given, const Window& window) {
  Flow flow = given;
  for (std::size_t k = 0; k < window.axes(); ++k) {
    const std::int64_t extent = site.extent_of(flow, k + 2);
    if (window.begin[k] == 0 && window.end[k] == 0) continue;
    Sizes places;
    for (std::int64_t i = -window.begin[k]; i < extent + window.end[k]; ++i)
      places.push_back(std::clamp<std::int64_t>(i, 0, extent - 1));
    flow = site.taken(flow, k + 2, places);
  }
  return flow;
}

// A window with gaps, axis by axis: the largest of what lies at its points.
Flow largest_with_gaps(Site& site, const Flow& given, const Window& window) {
  Flow flow = with_edges(site, given, window);
  for (std::size_t k = 0; k < window.axes(); ++k) {
    const std::int64_t last = site.extent_of(flow, k + 2) -
                              (window.kernel[k] - 1) * window.dilation[k];
    std::vector<Flow> points;
    for (std::int64_t i = 0; i < window.kernel[k]; ++i) {
      Sizes places;
      for (std::int64_t at = 0; at < last; at += window.stride[k])
        places.push_back(at + i * window.dilation[k]);
      points.push_back(site.taken(flow, k + 2, places));
    }
    points = site.alike(points);
    flow = points[0];
    if (points.size() > 1)
      static_cast<Value&>(flow) =
          site.add("largest", {{"type", "max"}},
                   std::vector<Value>(points.begin(), points.end()));
  }
  return flow;
}

// How much more the mean of a window at each place is than with zeros for what
// does not count: what ceil_mode adds, and pads, unless they are `counted`.
std::optional<Constant> shares(const Window& window, const Sizes& extents,
                               bool counted) {
  Sizes shape = {1, 1};
  std::vector<float> all = {1};
  for (std::size_t k = 0; k < window.axes(); ++k) {
    const std::int64_t count = window.places(extents[k], k),
                       low = counted ? -window.begin[k] : 0,
                       high = extents[k] +
                              (counted ? window.end[k] - window.beyond[k] : 0);
    std::vector<float> next;
    for (const float before : all)
      for (std::int64_t at = 0; at < count; ++at) {
        const std::int64_t first = at * window.stride[k] - window.begin[k];
        const std::int64_t seen =
            std::min(first + window.kernel[k], high) - std::max(first, low);
        next.push_back(before * static_cast<float>(window.kernel[k]) /
                       static_cast<float>(std::max<std::int64_t>(seen, 1)));
      }
    all = std::move(next);
    shape.push_back(count);
  }
  if (std::ranges::all_of(all, [](float one) { return one == 1; }))
    return std::nullopt;
  return Constant::of_reals(shape, std::move(all));
}

template <bool kMax>
void pool(Site& site) {
  const Node& node = site.node();
  const Sizes kernel = node.integers("kernel_shape", {});
  if (kernel.empty() || kernel.size() > 3)
    site.refuse("its window has " + std::to_string(kernel.size()) +
                " axes; 1 to 3 would be needed");
  Flow flow = site.image(site.flow(0), kernel.size());
  flow.linear = nullptr;
  const Sizes extents = extents_of(flow);
  Window window = window_of(site, kernel, extents);
  if (std::ranges::any_of(window.dilation, [](auto d) { return d != 1; })) {
    if (!kMax) site.refuse("its window has gaps; one without would be needed");
    return site.give(largest_with_gaps(site, flow, window));
  }
  const bool counts = !kMax && node.integer("count_include_pad", 0) != 0;
  Json layer{{"type", (kMax ? "max_pool" : "average_pool") +
                          std::to_string(kernel.size()) + "d"}};
  const auto valid = [&] {
    window.put_into(layer, false, "valid");
    static_cast<Value&>(flow) = site.add("", layer, {flow});
  };
  if (!window.padded() || (window.is_same(extents) && !counts)) {
    window.put_into(layer, false, window.padded() ? "same" : "valid");
    static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  } else if (!counts && !(kMax && flow.positive) &&
             has_each_place(window, extents)) {
    static_cast<Value&>(flow) = at_each_place(site, flow, window, layer);
  } else if (kMax && !flow.positive) {
    flow = with_edges(site, flow, window);
    valid();
  } else {
    // Zeros are no larger than the others, or are counted out again.
    static_cast<Value&>(flow) =
        zero_padded(site, flow, window.begin, window.end);
    valid();
    if (!kMax)
      if (const auto more = shares(window, extents, counts)) {
        const bool positive = flow.positive;
        flow = scaled_by_each(site, flow, &*more, nullptr);
        flow.positive = positive;
      }
  }
  site.give(std::move(flow));
}

// What is left when axes are reduced: all others, of one or several.  pool:
// what the layer says beside its type.
Flow reduced(Site& site, const Flow& given, const std::vector<bool>& gone,
             bool keep, Json pool) {
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
  pool["type"] = "global_pool";
  static_cast<Value&>(made) =
      site.add("", std::move(pool), {site.shaped(flow, {lost, left})});
  made.positive = flow.positive;
  if (shape.empty())
    for (Axis& axis : made.axes)
      if (axis == Axis{kBatch}) axis.push_back(0);
  if (shape.size() > 1)
    static_cast<Value&>(made) = site.reshaped(made, shape, "back");
  return made;
}

Json of_kind(const char* kind) { return {{"kind", kind}}; }

Flow reduced_to(Site& site, const Flow& flow, Json pool) {
  const Node& node = site.node();
  std::vector<bool> gone(flow.axes.size(), false);
  const auto axes = site.list(1, "axes");
  for (const std::int64_t axis : axes.value_or(Sizes{}))
    gone[site.axis(axis, gone.size())] = true;
  if (!axes || axes->empty()) {
    if (node.integer("noop_with_empty_axes", 0) != 0) return flow;
    site.refuse("it reduces the batch as well");
  }
  return reduced(site, flow, gone, node.integer("keepdims", 1) != 0,
                 std::move(pool));
}

void reduce(Site& site, const Flow& flow, const char* kind) {
  site.give(reduced_to(site, flow, of_kind(kind)));
}

void global(Site& site, const char* kind) {
  const Flow& flow = site.flow(0);
  std::vector<bool> gone(flow.axes.size(), true);
  for (std::size_t k = 0; k < gone.size() && k < 2; ++k) gone[k] = false;
  // Channels come last in images.
  site.give(reduced(site,
                    site.image(flow, gone.size() < 2 ? 0 : gone.size() - 2),
                    gone, true, of_kind(kind)));
}

void reduce_mean(Site& site) { reduce(site, site.flow(0), "average"); }
void reduce_max(Site& site) { reduce(site, site.flow(0), "max"); }
void reduce_sum(Site& site) { reduce(site, site.flow(0), "sum"); }
// The smallest is the largest of what is below 0.
void reduce_min(Site& site) {
  Flow made = reduced_to(site, line(site, site.flow(0), -1, 0), of_kind("max"));
  site.give(line(site, made, -1, 0));
}
void reduce_norm(Site& site) { reduce(site, site.flow(0), "pnorm"); }

// Of powers that are summed and whose root is taken: the exponent.
double exponent(const Site& site) {
  const double p = site.node().number("p", 2);
  if (!(p >= 1) || std::abs(p * site.node().number("root", 1 / p) - 1) > 1e-4)
    site.refuse(
        "it sums powers and takes another root of them, or their exponent is "
        "below 1; one that fits would be needed");
  return p;
}
void reduce_pnorm(Site& site) {
  site.give(reduced_to(site, site.flow(0),
                       {{"kind", "pnorm"}, {"p", exponent(site)}}));
}
// A mean of powers times the points of the window is their sum, of which the
// padding, zeros, adds nothing.
void pnorm_pool(Site& site) {
  const Node& node = site.node();
  const Sizes kernel = node.integers("kernel_shape", {});
  if (kernel.size() != 2)
    site.refuse("its window has " + std::to_string(kernel.size()) +
                " axes; 2 would be needed");
  const double points =
      static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]);
  Flow flow = site.image(site.flow(0), kernel.size());
  const Sizes extents = extents_of(flow);
  const Window window = window_of(site, kernel, extents);
  const bool sums =
      node.number("points", points) == points &&
      (!window.padded() || node.integer("count_include_pad", 0) != 0);
  if (!sums || window.dilation != Sizes{1, 1})
    site.refuse("it is no sum over a window without gaps; one would be needed");
  const bool same = window.padded() && window.is_same(extents);
  if (window.padded() && !same)
    static_cast<Value&>(flow) =
        zero_padded(site, flow, window.begin, window.end);
  Json layer{{"type", "pnorm_pool2d"}, {"p", exponent(site)}};
  window.put_into(layer, false, same ? "same" : "valid");
  static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  flow.linear = nullptr;
  flow.positive = true;
  site.give(std::move(flow));
}
void reduce_squares(Site& site) {
  reduce(site, squared(site, site.flow(0)), "sum");
}
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
          {"ReduceSum", reduce_sum},
          {"ReduceMin", reduce_min},
          {"ReduceL2", reduce_norm},
          {"ReducePNorm", reduce_pnorm},
          {"PNormPool", pnorm_pool},
          {"ReduceSumSquare", reduce_squares}};
}

}  // namespace dl::convert::onnx
