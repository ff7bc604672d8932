// Edges: zeros, another number, or what is there already.

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

// An image [n, c, ...] with zeros at the sides of its places.
Flow padded(Site& site, const Flow& given, const Sizes& begin,
            const Sizes& end) {
  Flow flow = site.image(given, begin.size());
  flow.linear = nullptr;
  static_cast<Value&>(flow) = zero_padded(site, flow, begin, end);
  return flow;
}

// Whether channels, which are the last axis, come first behind the node.
bool brings_channels_first(const Site& site, std::size_t rank) {
  const Node* next = site.only_reader();
  if (next == nullptr || next->op != "Transpose") return false;
  const Sizes order = next->integers("perm", {});
  return order.size() == rank &&
         order[1] == static_cast<std::int64_t>(rank) - 1;
}

Flow with_zeros(Site& site, const Flow& given, const Sizes& begin,
                const Sizes& end) {
  const std::size_t rank = given.axes.size();
  const auto none = [&](std::size_t k) { return begin[k] == 0 && end[k] == 0; };
  Flow flow = given;
  if (rank < 3 || rank > 5 || (!none(1) && !none(rank - 1))) {
    for (std::size_t k = 0; k < rank; ++k)
      if (!none(k)) flow = with_zeros_along(site, flow, k, begin[k], end[k]);
    return flow;
  }
  if (!none(1) || (none(rank - 1) && brings_channels_first(site, rank))) {
    std::rotate(flow.axes.begin() + 1, flow.axes.end() - 1, flow.axes.end());
    flow = padded(site, flow, {begin.begin() + 1, begin.end() - 1},
                  {end.begin() + 1, end.end() - 1});
    std::rotate(flow.axes.begin() + 1, flow.axes.begin() + 2, flow.axes.end());
    return flow;
  }
  return padded(site, flow, {begin.begin() + 2, begin.end()},
                {end.begin() + 2, end.end()});
}

// Places of an axis that stand at its sides as well.
Sizes places_of(Site& site, const std::string& mode, std::int64_t extent,
                std::int64_t begin, std::int64_t end) {
  const std::int64_t most = mode == "reflect" ? extent - 1
                            : mode == "wrap"  ? extent
                                              : 65535;
  if (begin > most || end > most || extent + begin < 1 || extent + end < 1 ||
      extent + begin + end < 1)
    site.refuse("its pads are " + std::to_string(begin) + " and " +
                std::to_string(end) + " for an axis of " +
                std::to_string(extent));
  Sizes places;
  for (std::int64_t i = -begin; i < extent + end; ++i) {
    std::int64_t at = i;
    if (mode == "edge")
      at = std::clamp<std::int64_t>(i, 0, extent - 1);
    else if (mode == "reflect")
      at = i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i;
    else if (mode == "wrap")
      at = (i + extent) % extent;
    else
      site.refuse("its mode is " + in_quotes(mode) +
                  "; constant, reflect, edge or wrap would be needed");
    places.push_back(at);
  }
  return places;
}

// A number where there are pads, and zeros between them; the batch, which has
// none, is of one.
Constant at_edges(Sizes shape, const Sizes& begin, const Sizes& end,
                  float value) {
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (begin[k] == 0 && end[k] == 0) shape[k] = 1;
  std::vector<float> all(static_cast<std::size_t>(count_of(shape)), 0);
  Sizes at(shape.size(), 0);
  for (float& one : all) {
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (at[k] < begin[k] ||
          at[k] >= shape[k] - std::max<std::int64_t>(end[k], 0))
        one = value;
    for (std::size_t k = shape.size(); k-- > 0; at[k] = 0)
      if (++at[k] < shape[k]) break;
  }
  return Constant::of_reals(shape, std::move(all));
}

void pad(Site& site) {
  const Node& node = site.node();
  const Flow& given = site.flow(0);
  const std::size_t rank = given.axes.size();
  const std::string mode = node.text("mode", "constant");
  const Sizes pads =
      site.list(1, node.opset < 2 ? "paddings" : "pads").value_or(Sizes{});
  Sizes axes = site.list(3, "axes").value_or(Sizes{});
  if (axes.empty())
    for (std::size_t k = 0; k < rank; ++k)
      axes.push_back(static_cast<std::int64_t>(k));
  if (pads.size() != 2 * axes.size())
    site.refuse("its pads are not two for each axis");
  Sizes begin(rank, 0), end(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t k = site.axis(axes[i], rank);
    begin[k] = pads[i];
    end[k] = pads[axes.size() + i];
    if ((begin[k] != 0 || end[k] != 0) &&
        std::ranges::count(given.axes[k], kBatch) > 0)
      site.refuse("it pads the batch");
  }
  const auto none = [&](std::size_t k) { return begin[k] == 0 && end[k] == 0; };
  bool any = false;
  for (std::size_t k = 0; k < rank; ++k) any = any || !none(k);
  if (!any) return site.give(given);
  if (mode == "constant") {
    double value =
        site.has(2) ? site.known(2, "value").at(0) : node.number("value", 0);
    const Node* next = site.only_reader();
    if (next != nullptr && next->op == "MaxPool" && value < 0)
      value = std::max<double>(value, std::numeric_limits<float>::lowest());
    // A value that is moved by a large number, and back, has lost digits.
    constexpr double kLarge = 16;
    if (std::abs(value) > kLarge) {
      if (!std::isfinite(value)) site.refuse("its constant is not finite");
      const Flow flow = with_zeros(site, given, begin, end);
      const Constant edge =
          at_edges(site.shape(flow), begin, end, static_cast<float>(value));
      return site.give(scaled_by_each(site, flow, nullptr, &edge));
    }
    Flow flow = value == 0 ? given : line(site, given, 1, -value);
    flow = with_zeros(site, flow, begin, end);
    return site.give(value == 0 ? flow : line(site, flow, 1, value));
  }
  Flow flow = given;
  if (rank > 3 && none(1)) flow = site.image(flow, rank - 2);
  for (std::size_t k = 0; k < rank; ++k)
    if (!none(k))
      flow = site.taken(
          flow, k,
          places_of(site, mode, site.extent_of(flow, k), begin[k], end[k]));
  site.give(std::move(flow));
}

}  // namespace

Flow with_zeros_along(Site& site, const Flow& given, std::size_t axis,
                      std::int64_t begin, std::int64_t end) {
  Flow flow = site.real(given);
  flow.linear = nullptr;
  if (flow.shape().rank() == 2 && flow.axes[axis] == Axis{0}) {
    static_cast<Value&>(flow) = zero_padded(site, flow, {begin}, {end});
    return flow;
  }
  flow = site.with_last(flow, axis);
  const auto extents = flow.shape().extents();
  Sizes shape(extents.begin(), extents.end());
  std::int64_t others = 1;
  for (std::size_t k = 0; k + 1 < shape.size(); ++k) others *= shape[k];
  // [others, extent, 1]: an image of one channel.
  Value made = site.reshaped(flow, {others, shape.back(), 1}, "rows");
  made = zero_padded(site, made, {0, begin}, {0, end});
  shape.back() += begin + end;
  static_cast<Value&>(flow) = site.reshaped(made, shape, "padded");
  return flow;
}

std::vector<Operator> pad_operators() { return {{"Pad", pad}}; }

}  // namespace dl::convert::onnx
