// Pools by windows.

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

// Repeats the edges, which leaves the maximum of each window as it is.
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

// The places of one point of each window along an axis; in place of padding,
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

// Where windows do not reach as far as the input, ONNX pads it by nothing, and
// ONNX Runtime's means begin behind its first.
void want_same_means(Site& site, const Window& window, const Sizes& kernel,
                     const Sizes& extents) {
  if (!site.node().text("auto_pad", "NOTSET").starts_with("SAME")) return;
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const std::int64_t stride = window.stride[k],
                       last = (extents[k] - 1) / stride * stride;
    if (last + kernel[k] + 1 < extents[k])
      site.refuse(
          "runtimes differ in where a window that is smaller than its stride "
          "begins; pads would be needed");
  }
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
  if (!kMax) want_same_means(site, window, kernel, extents);
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

// The norm of a volume [d, h, w, c] is that of its columns' norms.
Flow lp_pool_of_volume(Site& site, Flow flow, const Window& window, double p) {
  const auto pooled = [&](const Value& from, const char* part, Sizes kernel,
                          Sizes stride) {
    return site.add(part,
                    {{"type", "pnorm_pool2d"},
                     {"p", p},
                     {"kernel", std::move(kernel)},
                     {"stride", std::move(stride)}},
                    {from});
  };
  const Sizes& k = window.kernel;
  const Sizes& by = window.stride;
  const std::int64_t h = flow.shape()[1], w = flow.shape()[2],
                     c = flow.shape()[3];
  Value value = site.reshaped(flow, {flow.shape()[0], h * w, c}, "column");
  value = pooled(value, "deep", {k[0], 1}, {by[0], 1});
  const std::int64_t d = value.shape()[0];
  static_cast<Value&>(flow) = site.reshaped(value, {d, h, w, c}, "volume");
  value = site.shaped(flow, {{1}, {2}, {0, 3}});
  value = pooled(value, "", {k[1], k[2]}, {by[1], by[2]});
  static_cast<Value&>(flow) =
      site.reshaped(value, {value.shape()[0], value.shape()[1], d, c}, "depth");
  flow.axes = {flow.axes[0], {3}, {2}, {0}, {1}};
  return flow;
}

// Padding, zeros, adds nothing to a sum of powers.
void lp_pool(Site& site, const Sizes& kernel, double p) {
  if (kernel.empty() || kernel.size() > 3)
    site.refuse("its window has " + std::to_string(kernel.size()) +
                " axes; 1 to 3 would be needed");
  Flow flow = site.image(site.flow(0), kernel.size());
  const Sizes extents = extents_of(flow);
  Window window = window_of(site, kernel, extents);
  if (window.dilation != Sizes(kernel.size(), 1) || !(p >= 1))
    site.refuse(
        "its window has gaps, or its exponent is below 1; one without, and one "
        "from 1 on, would be needed");
  if (site.node().text("auto_pad", "NOTSET").starts_with("SAME"))
    for (std::size_t k = 0; k < kernel.size(); ++k)
      if (kernel[k] < window.stride[k])
        site.refuse(
            "runtimes differ in how they pad a window that is smaller than its "
            "stride by themselves; pads would be needed");
  const bool same =
      window.padded() && kernel.size() < 3 && window.is_same(extents);
  if (window.padded() && !same)
    static_cast<Value&>(flow) =
        zero_padded(site, flow, window.begin, window.end);
  flow.linear = nullptr;
  flow.positive = true;
  if (kernel.size() == 3)
    return site.give(lp_pool_of_volume(site, std::move(flow), window, p));
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
  lp_pool(site, kernel, power_of(site));
}
}  // namespace

std::vector<Operator> pool_operators() {
  return {{"MaxPool", pool<true>},
          {"AveragePool", pool<false>},
          {"LpPool", lp_pool},
          {"PNormPool", pnorm_pool}};
}

}  // namespace dl::convert::onnx
