// Pools.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/window.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kMostPadding = 64;

// A value with its outermost rows, or columns, again at its sides: they are in
// each window that the padding is in, so that the largest number stays.
Flow repeated(Site& site, const Flow& value, int axis, std::int64_t times) {
  if (times == 0) return value;
  const std::string name = "edge" + std::to_string(axis);
  const std::int64_t extent = Site::shape(value)[axis];
  std::vector<Flow> parts;
  const auto add = [&](std::int64_t at, const char* side) {
    for (std::int64_t i = 0; i < times; ++i)
      parts.push_back(site.add(
          name + side + std::to_string(i),
          {{"type", "subset"}, {"axis", axis}, {"begin", at}, {"end", at + 1}},
          {value}));
  };
  add(0, ".begin");
  parts.push_back(value);
  add(extent - 1, ".end");
  return site.add(name, {{"type", "merge"}, {"axis", axis}}, parts);
}

Flow max_padded(Site& site, const Window& window, Flow value) {
  for (std::size_t k = 0; k < window.axes(); ++k) {
    if (window.padding[k] >= window.kernel[k] ||
        window.padding[k] > kMostPadding)
      site.refuse("its padding is as large as its window, or larger than " +
                  std::to_string(kMostPadding));
    value = repeated(site, value, static_cast<int>(k), window.padding[k]);
  }
  return value;
}

// A series with the zeros of "same", which count then.
Flow counted_same(Site& site, Window& window, const Flow& value) {
  const std::int64_t steps = Site::shape(value)[0], stride = window.stride[0];
  const std::int64_t last = (steps - 1) / stride * stride;
  const std::int64_t more =
      std::max<std::int64_t>(0, last + window.kernel[0] - steps);
  window.mode = "valid";
  if (more == 0) return value;
  return with_sides(site, "padding", "zero_pad", {more / 2, more - more / 2},
                    value);
}

template <std::size_t kAxes>
Flow pool(Site& site) {
  Flow value = window_input(site, kAxes);
  Window window = window_of(site, kAxes, Sizes(kAxes, kAxes == 1 ? 2 : 1),
                            Sizes(kAxes, kAxes == 1 ? 1 : 2),
                            kAxes == 3 ? "Same" : "Truncate");
  if (window.dilated())
    site.refuse("its window has gaps; a pool with a dilation would be needed");
  if (window.mode == "causal")
    site.refuse(
        "its convolutionMode is Causal; Same or Truncate would be "
        "needed");
  const std::string kind = site.text("poolingType", "MAX");
  const std::string axes = std::to_string(kAxes) + "d";
  Json node;
  if (kind == "MAX") {
    node["type"] = "max_pool" + axes;
    value = max_padded(site, window, value);
  } else if (kind == "AVG" || kind == "SUM") {
    node["type"] = "average_pool" + axes;
    const bool counted =
        kind == "SUM" || site.flag("avgPoolIncludePadInDivisor", true);
    if (window.padded() && !counted)
      site.refuse(
          "its means leave out a padding in numbers; Same, or padding that "
          "counts, would be needed");
    if (kAxes > 1) node["count_padding"] = counted;
    value = kAxes == 1 && window.mode == "same" && counted
                ? counted_same(site, window, value)
                : padded(site, window, value);
  } else if (kind == "PNORM" && kAxes == 2) {
    node["type"] = "pnorm_pool2d";
    node["p"] = static_cast<double>(site.integer("pnorm", 1, 1000));
    value = padded(site, window, value);
  } else {
    site.refuse("its poolingType is " + in_quotes(kind) +
                "; MAX, AVG or SUM would be needed");
  }
  window.put_into(node, false);
  Flow flow = site.add("", node, {value});
  if (kind != "SUM") return flow;
  double count = 1;
  for (const std::int64_t extent : window.kernel)
    count *= static_cast<double>(extent);
  return site.add("sum", {{"type", "scale"}, {"factor", count}}, {flow});
}

Flow global_pool(Site& site) {
  const Flow& value = site.only();
  const int rank = Site::shape(value).rank();
  if (rank < 2) site.refuse("its input is a vector");
  const Json& given = member(site.json(), "poolingDimensions");
  Json all = Json::array(), usual = Json::array();
  for (int k = 1; k < rank; ++k) {
    all.push_back(value.last ? k : k + 1);
    usual.push_back(k + 1);
  }
  if ((given.is_array() && !given.empty() ? given : usual) != all)
    site.refuse(
        "it is over some dimensions; all of time or space would be "
        "needed");
  const std::string kind = site.text("poolingType", "MAX");
  Json node{{"type", "global_pool"}};
  if (kind == "MAX" || kind == "SUM")
    node["kind"] = kind == "MAX" ? "max" : "sum";
  else if (kind == "AVG")
    node["kind"] = "average";
  else if (kind == "PNORM")
    node.update(
        {{"kind", "pnorm"},
         {"p", static_cast<double>(site.integer("pnorm", 1, 1000, 2))}});
  else
    site.refuse("its poolingType is " + in_quotes(kind));
  Flow flow = site.add("", node, {value});
  if (site.flag("collapseDimensions", true)) return flow;
  Sizes ones(static_cast<std::size_t>(rank), 1);
  ones.back() = Site::shape(flow).back();
  return site.add("kept", {{"type", "reshape"}, {"shape", ones}}, {flow});
}

}  // namespace

std::vector<Class> pool_classes() {
  return {{"subsampling", pool<2>},   {"pooling2d", pool<2>},
          {"subsampling1d", pool<1>}, {"pooling1d", pool<1>},
          {"subsampling3d", pool<3>}, {"globalpooling", global_pool}};
}

}  // namespace dl::convert::dl4j
