// Pools by windows, and what is reduced along axes.

#include <algorithm>
#include <cmath>

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

[[noreturn]] void refuse_padding_alone(const Site& site) {
  site.refuse(
      "one of its windows lies in its padding alone; smaller pads would be "
      "needed");
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

// What lies at a point of each window along an axis: where that is padding, at
// another point of the same window, which is as large.
Sizes places_at(Site& site, const Window& window, std::size_t k,
                std::int64_t extent, std::int64_t point) {
  Sizes places;
  for (std::int64_t at = 0; at < window.places(extent, k); ++at) {
    const std::int64_t first = at * window.stride[k] - window.begin[k];
    const auto lies = [&](std::int64_t i) {
      const std::int64_t place = first + i * window.dilation[k];
      return place >= 0 && place < extent;
    };
    std::int64_t own = point;
    for (std::int64_t i = 0; i < window.kernel[k] && !lies(own); ++i) own = i;
    if (!lies(own)) refuse_padding_alone(site);
    places.push_back(first + own * window.dilation[k]);
  }
  return places;
}

// A window with gaps, axis by axis: the largest of what lies at its points, or
// their mean, with zeros for padding.
Flow with_gaps(Site& site, const Flow& given, const Window& window, bool max) {
  Flow flow = given;
  if (!max)
    static_cast<Value&>(flow) =
        zero_padded(site, flow, window.begin, window.end);
  for (std::size_t k = 0; k < window.axes(); ++k) {
    const std::int64_t extent = site.extent_of(flow, k + 2);
    std::vector<Flow> points;
    for (std::int64_t i = 0; i < window.kernel[k]; ++i) {
      Window own = window;
      if (!max) own.begin[k] = own.end[k] = 0;
      points.push_back(
          site.taken(flow, k + 2, places_at(site, own, k, extent, i)));
    }
    points = site.alike(points);
    flow = points[0];
    if (points.size() > 1)
      static_cast<Value&>(flow) = site.add(
          max ? "largest" : "mean", {{"type", max ? "max" : "average"}},
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
        std::int64_t seen = 0;
        for (std::int64_t i = 0; i < window.kernel[k]; ++i) {
          const std::int64_t place = first + i * window.dilation[k];
          if (place >= low && place < high) ++seen;
        }
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

// Where a window lies in padding alone, nothing is the largest, and there is no
// mean.
void want_input(Site& site, const Window& window, const Sizes& extents) {
  for (std::size_t k = 0; k < window.axes(); ++k)
    places_at(site, window, k, extents[k], 0);
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
  const Window window = window_of(site, kernel, extents);
  const bool gaps =
      std::ranges::any_of(window.dilation, [](auto d) { return d != 1; });
  if (gaps && node.text("auto_pad", "NOTSET").starts_with("SAME"))
    site.refuse(
        "runtimes differ in how they pad a window with gaps by themselves; "
        "pads would be needed");
  want_input(site, window, extents);
  const bool counts = !kMax && node.integer("count_include_pad", 0) != 0;
  const auto counted_out = [&] {
    const auto more = kMax ? std::nullopt : shares(window, extents, counts);
    if (!more) return;
    const bool positive = flow.positive;
    flow = scaled_by_each(site, flow, &*more, nullptr);
    flow.positive = positive;
  };
  if (gaps) {
    flow = with_gaps(site, flow, window, kMax);
    counted_out();
    return site.give(std::move(flow));
  }
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
    counted_out();
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
  std::vector<std::size_t> ones;  // a batch of one
  for (std::size_t k = 0; k < flow.axes.size(); ++k) {
    const bool batch = std::ranges::count(flow.axes[k], kBatch) > 0;
    if (batch && gone[k]) {
      if (site.extent_of(flow, k) != 1) site.refuse("it reduces the batch");
      if (!keep) ones.push_back(made.axes.size());
      made.axes.push_back(flow.axes[k]);
      continue;
    }
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
  if (lost.empty()) {  // over one place each: that, or how large it is
    ones.clear();
    for (std::size_t k = 0; k < gone.size() && !keep; ++k)
      if (gone[k]) ones.push_back(k);
    const bool sized = pool["kind"] == "pnorm";
    return site.squeezed(sized ? magnitude(site, given) : given,
                         std::move(ones));
  }
  // Places in their own order: which comes first does not matter.
  std::ranges::sort(lost);
  const Json pool_kind = pool["kind"];
  pool["type"] = "global_pool";
  static_cast<Value&>(made) =
      site.add("", std::move(pool), {site.shaped(flow, {lost, left})});
  made.positive = flow.positive || pool_kind == "pnorm";
  if (shape.empty())
    for (Axis& axis : made.axes)
      if (axis == Axis{kBatch}) axis.push_back(0);
  if (shape.size() > 1)
    static_cast<Value&>(made) = site.reshaped(made, shape, "back");
  return site.squeezed(std::move(made), std::move(ones));
}

Json of_kind(const char* kind) { return {{"kind", kind}}; }

// Which axes of so many are reduced: with noop_with_empty_axes maybe none.
std::vector<bool> reduced_axes(const Site& site, std::size_t rank) {
  std::vector<bool> gone(rank, false);
  const auto axes = site.list(1, "axes");
  for (const std::int64_t axis : axes.value_or(Sizes{}))
    gone[site.axis(axis, rank)] = true;
  if ((!axes || axes->empty()) &&
      site.node().integer("noop_with_empty_axes", 0) == 0)
    gone.assign(rank, true);
  return gone;
}

Flow reduced_to(Site& site, const Flow& flow, Json pool) {
  return reduced(site, flow, reduced_axes(site, flow.axes.size()),
                 site.node().integer("keepdims", 1) != 0, std::move(pool));
}

void reduce(Site& site, const Flow& flow, const char* kind) {
  site.give(reduced_to(site, flow, of_kind(kind)));
}

void global(Site& site, Json pool) {
  const Flow& flow = site.flow(0);
  std::vector<bool> gone(flow.axes.size(), true);
  for (std::size_t k = 0; k < gone.size() && k < 2; ++k) gone[k] = false;
  // Channels come last in images.
  site.give(reduced(site,
                    site.image(flow, gone.size() < 2 ? 0 : gone.size() - 2),
                    gone, true, std::move(pool)));
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
void reduce_sizes(Site& site) {
  reduce(site, magnitude(site, site.flow(0)), "sum");
}

// x - log_softmax(x) is the same along the axis; over several axes it is that
// of that.
void reduce_log_sum_exp(Site& site) {
  Flow flow = site.real(site.flow(0));
  const std::vector<bool> gone = reduced_axes(site, flow.axes.size());
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < gone.size(); ++k) {
    if (!gone[k]) continue;
    axes.push_back(k);
    flow = site.with_last(flow, k);
    flow.linear = nullptr;
    const Value less = site.add(
        "log", {{"type", "activation"}, {"activation", "log_softmax"}}, {flow});
    static_cast<Value&>(flow) =
        site.add("same", {{"type", "subtract"}}, {flow, less});
    std::vector<bool> one(gone.size(), false);
    one[k] = true;
    flow = reduced(site, flow, one, true, of_kind("average"));
  }
  flow.positive = false;
  if (site.node().integer("keepdims", 1) == 0)
    flow = site.squeezed(std::move(flow), std::move(axes));
  site.give(std::move(flow));
}

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
// Padding, zeros, adds nothing to a sum of powers.
void lp_pool(Site& site, const Sizes& kernel, double p) {
  if (kernel.empty() || kernel.size() > 2)
    site.refuse("its window has " + std::to_string(kernel.size()) +
                " axes; 1 or 2 would be needed");
  Flow flow = site.image(site.flow(0), kernel.size());
  const Sizes extents = extents_of(flow);
  Window window = window_of(site, kernel, extents);
  if (window.dilation != Sizes(kernel.size(), 1) || !(p >= 1))
    site.refuse(
        "its window has gaps, or its exponent is below 1; one without, and one "
        "from 1 on, would be needed");
  const bool same = window.padded() && window.is_same(extents);
  if (window.padded() && !same)
    static_cast<Value&>(flow) =
        zero_padded(site, flow, window.begin, window.end);
  Json layer{{"type", "pnorm_pool2d"}, {"p", p}};
  if (kernel.size() == 1) {  // as an image of one column
    const tensor::Shape& s = flow.shape();
    static_cast<Value&>(flow) = site.reshaped(flow, {s[0], 1, s[1]}, "column");
    window.kernel.push_back(1);
    window.stride.push_back(1);
  }
  window.put_into(layer, false, same ? "same" : "valid");
  static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  if (kernel.size() == 1) {
    const tensor::Shape& s = flow.shape();
    static_cast<Value&>(flow) = site.reshaped(flow, {s[0], s[2]}, "series");
  }
  flow.linear = nullptr;
  flow.positive = true;
  site.give(std::move(flow));
}
void lp_pool(Site& site) {
  lp_pool(site, site.node().integers("kernel_shape", {}),
          site.node().number("p", 2));
}
// A mean of powers times the points of the window is their sum, if each counts.
void pnorm_pool(Site& site) {
  const Node& node = site.node();
  const Sizes kernel = node.integers("kernel_shape", {});
  double points = 1;
  for (const std::int64_t one : kernel) points *= static_cast<double>(one);
  const bool padded = node.text("auto_pad", "NOTSET") != "NOTSET" ||
                      std::ranges::any_of(node.integers("pads", {}),
                                          [](auto one) { return one != 0; });
  if (node.number("points", points) != points ||
      node.integer("ceil_mode", 0) != 0 ||
      (padded && node.integer("count_include_pad", 0) == 0))
    site.refuse("it is no sum over a window without gaps; one would be needed");
  lp_pool(site, kernel, exponent(site));
}
void reduce_squares(Site& site) {
  reduce(site, squared(site, site.flow(0)), "sum");
}
void global_average(Site& site) { global(site, of_kind("average")); }
void global_max(Site& site) { global(site, of_kind("max")); }
void global_lp(Site& site) {
  const double p = site.node().number("p", 2);
  if (!(p >= 1)) site.refuse("its exponent is below 1");
  global(site, {{"kind", "pnorm"}, {"p", p}});
}

}  // namespace

std::vector<Operator> pool_operators() {
  return {{"MaxPool", pool<true>},
          {"AveragePool", pool<false>},
          {"GlobalAveragePool", global_average},
          {"GlobalLpPool", global_lp},
          {"GlobalMaxPool", global_max},
          {"LpPool", lp_pool},
          {"ReduceMean", reduce_mean},
          {"ReduceMax", reduce_max},
          {"ReduceSum", reduce_sum},
          {"ReduceMin", reduce_min},
          {"ReduceL1", reduce_sizes},
          {"ReduceL2", reduce_norm},
          {"ReduceLogSumExp", reduce_log_sum_exp},
          {"ReducePNorm", reduce_pnorm},
          {"PNormPool", pnorm_pool},
          {"ReduceSumSquare", reduce_squares}};
}

}  // namespace dl::convert::onnx
