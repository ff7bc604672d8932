// Other shapes, parts, edges and sizes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libcore/base/display.h"
#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

void reshape(Site& site) {
  const Flow& flow = site.flow(0);
  const auto given = site.list(1, "shape");
  if (!given) site.refuse("it has no shape");
  const Sizes own = site.shape(flow);
  Sizes shape = *given;
  std::int64_t known = 1, whole = 1, open = -1;
  for (const std::int64_t extent : own) whole *= extent;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0 && site.node().integer("allowzero", 0) == 0) {
      if (k >= own.size()) site.refuse("it keeps an axis that its input lacks");
      shape[k] = own[k];
    }
    if (shape[k] == -1 && open < 0)
      open = static_cast<std::int64_t>(k);
    else if (shape[k] < 1 || known > whole / shape[k])
      site.refuse("its shape is not one of its input's numbers");
    else
      known *= shape[k];
  }
  if (open >= 0) shape[static_cast<std::size_t>(open)] = whole / known;
  if ((open >= 0 ? whole % known : known - whole) != 0)
    site.refuse("its shape is not one of its input's numbers");
  site.give(site.regrouped(flow, shape));
}

void flatten(Site& site) {
  const Flow& flow = site.flow(0);
  const std::size_t rank = flow.axes.size();
  const std::int64_t given = site.node().integer("axis", 1);
  const std::size_t axis =
      given == static_cast<std::int64_t>(rank) ? rank : site.axis(given, rank);
  Flow made = flow;
  made.axes.assign(2, {});
  for (std::size_t k = 0; k < rank; ++k) {
    Axis& to = made.axes[k < axis ? 0 : 1];
    to.insert(to.end(), flow.axes[k].begin(), flow.axes[k].end());
  }
  site.give(std::move(made));
}

void squeeze(Site& site) {
  const Flow& flow = site.flow(0);
  const auto given = site.list(1, "axes");
  std::vector<std::size_t> axes;
  for (const std::int64_t one : given.value_or(Sizes{}))
    axes.push_back(site.axis(one, flow.axes.size()));
  for (std::size_t k = 0; !given && k < flow.axes.size(); ++k)
    if (site.extent_of(flow, k) == 1) axes.push_back(k);
  site.give(site.squeezed(flow, std::move(axes)));
}

void unsqueeze(Site& site) {
  Flow flow = site.flow(0);
  const Sizes given = site.list(1, "axes").value_or(Sizes{});
  const std::size_t rank = flow.axes.size() + given.size();
  std::vector<std::size_t> axes;
  for (const std::int64_t one : given) axes.push_back(site.axis(one, rank));
  std::ranges::sort(axes);
  for (const std::size_t k : axes)
    if (k > flow.axes.size())
      site.refuse("its axes are not those of its output");
    else
      flow.axes.insert(flow.axes.begin() + static_cast<std::ptrdiff_t>(k),
                       Axis{});
  site.give(std::move(flow));
}

void transpose(Site& site) {
  const Flow& flow = site.flow(0);
  const std::size_t rank = flow.axes.size();
  Sizes order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = site.node().integers("perm", order);
  Flow made = flow;
  made.axes.clear();
  std::vector<bool> seen(rank, false);
  for (const std::int64_t one : order) {
    const std::size_t axis = site.axis(one, rank);
    if (seen[axis] || order.size() != rank)
      site.refuse("its order is none of its input's axes");
    seen[axis] = true;
    made.axes.push_back(flow.axes[axis]);
  }
  site.give(std::move(made));
}

// From the last to the first along an axis, as steps of a sequence.
Flow reversed(Site& site, const Flow& given, std::size_t axis) {
  const Flow flow = site.plain(given);
  if (flow.axes[axis].empty()) return given;  // there is but one
  const int steps = flow.axes[axis][0];
  if (steps == kBatch) site.refuse("it reverses the examples of a batch");
  Axis others;
  Sizes extents{flow.shape()[steps]};
  std::vector<int> place(static_cast<std::size_t>(flow.shape().rank()), 0);
  for (int k = 0; k < flow.shape().rank(); ++k) {
    if (k == steps) continue;
    place[static_cast<std::size_t>(k)] = static_cast<int>(extents.size());
    extents.push_back(flow.shape()[k]);
    others.push_back(k);
  }
  Flow made;
  static_cast<Value&>(made) =
      site.reshaped(site.add("", {{"type", "reverse"}},
                             {site.shaped(flow, {{steps}, others}, "steps")}),
                    extents, "back");
  made.positive = flow.positive;
  for (const Axis& own : flow.axes) {
    made.axes.emplace_back();
    for (const int one : own)
      made.axes.back().push_back(
          one == kBatch ? one : place[static_cast<std::size_t>(one)]);
  }
  return made;
}

void slice(Site& site) {
  Flow flow = site.flow(0);
  const auto begins = site.list(1, "starts"), ends = site.list(2, "ends");
  if (!begins || !ends) site.refuse("it has no begin and end");
  Sizes axes(begins->size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = site.list(3, "axes").value_or(axes);
  const Sizes steps = site.list(4, "steps").value_or(Sizes(axes.size(), 1));
  if (ends->size() != axes.size() || begins->size() != axes.size() ||
      steps.size() != axes.size())
    site.refuse("its begins, ends and axes are not as many");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = site.axis(axes[i], flow.axes.size());
    const std::int64_t extent = site.extent_of(flow, axis);
    const auto within = [&](std::int64_t v) {
      return std::clamp<std::int64_t>(v < 0 ? std::max(v, -extent) + extent : v,
                                      0, extent);
    };
    if (steps[i] == -1 && within((*begins)[i]) >= extent - 1 &&
        (*ends)[i] < -extent) {
      flow = reversed(site, flow, axis);
      continue;
    }
    if (steps[i] != 1)
      site.refuse("its step is " + std::to_string(steps[i]) +
                  "; 1 would be needed");
    flow = site.part_of(flow, axis, within((*begins)[i]), within((*ends)[i]));
  }
  site.give(std::move(flow));
}

void split(Site& site) {
  const Flow flow = site.flow(0);
  const std::size_t axis =
      site.axis(site.node().integer("axis", 0), flow.axes.size());
  const std::int64_t extent = site.extent_of(flow, axis);
  const std::size_t outputs = site.node().out.size();
  Sizes sizes = site.list(1, "split").value_or(Sizes{});
  if (sizes.empty()) {
    const auto count = static_cast<std::int64_t>(outputs);
    const std::int64_t each = (extent + count - 1) / count;
    for (std::int64_t at = 0; at < extent; at += each)
      sizes.push_back(std::min(each, extent - at));
  }
  std::int64_t begin = 0;
  if (sizes.size() != outputs) site.refuse("its parts are not its outputs");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > extent - begin)
      site.refuse("its parts are not those of " + std::to_string(extent));
    // Of what nobody reads, nothing.
    const std::string& name = site.node().out[i];
    if (!name.empty() && site.import().readers.count(name) > 0)
      site.give(site.part_of(flow, axis, begin, begin + sizes[i]), i);
    begin += sizes[i];
  }
}

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

void pad(Site& site) {
  const Node& node = site.node();
  const Flow& given = site.flow(0);
  const std::size_t rank = given.axes.size();
  const std::string mode = node.text("mode", "constant");
  if (mode != "constant")
    site.refuse("its mode is " + in_quotes(mode) +
                "; constant zeros would be needed");
  const double value =
      site.has(2) ? site.known(2, "value").at(0) : node.number("value", 0);
  if (value != 0) site.refuse("it pads with other than zeros");
  const Sizes pads = site.list(1, "pads").value_or(Sizes{});
  Sizes axes = site.list(3, "axes").value_or(Sizes{});
  if (axes.empty())
    for (std::size_t k = 0; k < rank; ++k)
      axes.push_back(static_cast<std::int64_t>(k));
  if (pads.size() != 2 * axes.size())
    site.refuse("its pads are not two for each axis");
  Sizes begin(rank, 0), end(rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    begin[site.axis(axes[i], rank)] = pads[i];
    end[site.axis(axes[i], rank)] = pads[axes.size() + i];
  }
  const auto none = [&](std::size_t k) { return begin[k] == 0 && end[k] == 0; };
  bool any = false;
  for (std::size_t k = 0; k < rank; ++k) any = any || !none(k);
  if (!any) return site.give(given);
  if (rank < 3 || rank > 5 || !none(0) || (!none(1) && !none(rank - 1)))
    site.refuse("it pads other than the places of an image");
  Flow flow = given;
  if (!none(1) || (none(rank - 1) && brings_channels_first(site, rank))) {
    std::rotate(flow.axes.begin() + 1, flow.axes.end() - 1, flow.axes.end());
    flow = padded(site, flow, {begin.begin() + 1, begin.end() - 1},
                  {end.begin() + 1, end.end() - 1});
    std::rotate(flow.axes.begin() + 1, flow.axes.begin() + 2, flow.axes.end());
  } else {
    flow = padded(site, flow, {begin.begin() + 2, begin.end()},
                  {end.begin() + 2, end.end()});
  }
  site.give(std::move(flow));
}

// Whole factors by which the places of an image grow.
Sizes factors_of(Site& site, const Flow& flow) {
  const std::size_t rank = flow.axes.size();
  const bool old = site.node().op == "Upsample" || site.node().opset < 11;
  const std::size_t at = old ? 1 : 2;
  Sizes factors;
  const Sizes shape = site.shape(flow);
  std::vector<double> scales = site.node().numbers("scales");
  if (site.has(at)) {
    const Constant& given = site.known(at, "scales");
    for (std::int64_t i = 0; i < given.elements(); ++i)
      scales.push_back(given.at(static_cast<std::size_t>(i)));
  }
  if (scales.empty() && !old) {
    const Sizes sizes = site.list(3, "sizes").value_or(Sizes{});
    for (std::size_t k = 0; k < std::min(sizes.size(), rank); ++k)
      // A writer that knew a number of examples says it.
      scales.push_back(k == 0 && sizes[0] == 1
                           ? 1
                           : static_cast<double>(sizes[k]) /
                                 static_cast<double>(shape[k]));
  }
  if (scales.size() != rank)
    site.refuse("its scales are not one for each axis");
  for (const double scale : scales) {
    if (scale != std::round(scale) || scale < 1 || scale > 65535)
      site.refuse("it grows or shrinks by " + displayed(std::to_string(scale)) +
                  "; whole factors would be needed");
    factors.push_back(static_cast<std::int64_t>(scale));
  }
  if (factors[0] != 1 || factors[1] != 1)
    site.refuse("it repeats examples or channels");
  return {factors.begin() + 2, factors.end()};
}

void resize(Site& site) {
  const Node& node = site.node();
  const Flow& given = site.flow(0);
  if (given.axes.size() != 3 && given.axes.size() != 4)
    site.refuse("its input is no series or image");
  const Sizes factors = factors_of(site, given);
  const bool old = node.op == "Upsample" || node.opset < 11;
  const std::string mode = node.text("mode", "nearest");
  const std::string places = node.text("coordinate_transformation_mode",
                                       old ? "asymmetric" : "half_pixel");
  const bool nearest = mode == "nearest";
  // For whole factors these are all the same: halves are never rounded.
  const std::string rounding =
      old ? "floor" : node.text("nearest_mode", "round_prefer_floor");
  const bool first =
      (places == "asymmetric" && rounding == "floor") ||
      ((places == "half_pixel" || places == "pytorch_half_pixel") &&
       rounding.starts_with("round_prefer_"));
  if (!(nearest
            ? first
            : mode == "linear" && factors.size() == 2 && !old &&
                  (places == "half_pixel" || places == "pytorch_half_pixel")))
    site.refuse("it resizes with mode " + in_quotes(mode) + " and " +
                in_quotes(places) +
                (nearest ? " and " + in_quotes(rounding) : "") +
                "; nearest with a rounding that repeats each place, or linear "
                "with half_pixel, of images would be "
                "needed");
  Flow flow = site.image(given, given.axes.size() - 2);
  Json layer;
  if (factors.size() == 1)
    layer = {{"type", "upsample1d"}, {"size", factors[0]}};
  else
    layer = {{"type", "upsample2d"},
             {"size", factors},
             {"interpolation", nearest ? "nearest" : "bilinear"}};
  static_cast<Value&>(flow) = site.add("", std::move(layer), {flow});
  flow.linear = nullptr;
  site.give(std::move(flow));
}

void space_to_depth(Site& site) {
  Flow flow = site.image(site.flow(0), 2);
  static_cast<Value&>(flow) =
      site.add("",
               {{"type", "space_to_depth"},
                {"block", site.node().integer("blocksize", 2)}},
               {flow});
  flow.linear = nullptr;
  site.give(std::move(flow));
}

// [n, c, h, w], c of block x block pixels: axes that lie otherwise.
void depth_to_space(Site& site) {
  const Flow& flow = site.flow(0);
  const Sizes s = site.shape(flow);
  const std::int64_t block = site.node().integer("blocksize", 2);
  if (s.size() != 4 || block < 1 || block > 65535 ||
      s[1] % (block * block) != 0)
    site.refuse("its blocks do not divide its channels");
  const std::int64_t rest = s[1] / (block * block);
  const bool columns = site.node().text("mode", "DCR") == "CRD";
  const Flow apart = site.regrouped(
      flow, columns ? Sizes{s[0], rest, block, block, s[2], s[3]}
                    : Sizes{s[0], block, block, rest, s[2], s[3]});
  const std::size_t depth = columns ? 1 : 3, row = columns ? 2 : 1;
  Flow made = apart;
  made.axes = {apart.axes[0], apart.axes[depth], apart.axes[4], apart.axes[5]};
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const Axis& inner = apart.axes[row + k];
    made.axes[2 + k].insert(made.axes[2 + k].end(), inner.begin(), inner.end());
  }
  site.give(std::move(made));
}

void shape(Site& site) {
  const Sizes all = site.shape(site.flow(0));
  const auto rank = static_cast<std::int64_t>(all.size());
  const auto within = [&](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t begin = within(site.node().integer("start", 0)),
                     end = within(site.node().integer("end", rank));
  Sizes some;
  for (std::int64_t k = begin; k < end; ++k)
    some.push_back(all[static_cast<std::size_t>(k)]);
  const auto count = static_cast<std::int64_t>(some.size());
  site.give(Constant::of_wholes({count}, std::move(some)));
}

// To the shape that it has.
void expand(Site& site) {
  const Flow& flow = site.flow(0);
  const Sizes wanted = site.known(1, "shape").wholes(), own = site.shape(flow);
  Flow made = flow;
  if (wanted.size() > own.size())
    made.axes.insert(made.axes.begin(), wanted.size() - own.size(), Axis{});
  const Sizes shape = site.shape(made);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t k = shape.size() - wanted.size() + i;
    if (wanted[i] != 1 && wanted[i] != shape[k])
      site.refuse("it repeats its input; a layer that does would be needed");
  }
  site.give(std::move(made));
}

// A vector at each of several steps.
void tile(Site& site) {
  const Flow& flow = site.flow(0);
  const Sizes times = site.known(1, "repeats").wholes(), own = site.shape(flow);
  std::size_t axis = own.size();
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (times[k] == 1) continue;
    if (axis < own.size() || k >= own.size() || own[k] != 1)
      site.refuse("it repeats other than one axis of 1");
    axis = k;
  }
  if (axis == own.size()) return site.give(flow);
  const Flow vector = site.plain(flow);
  if (vector.shape().rank() != 1) site.refuse("it repeats other than a vector");
  Flow made;
  static_cast<Value&>(made) =
      site.add("", {{"type", "repeat"}, {"n", times[axis]}}, {vector});
  for (std::size_t k = 0; k < own.size(); ++k) {
    const bool batch = std::ranges::count(vector.axes[k], kBatch) > 0;
    made.axes.push_back(batch                    ? Axis{kBatch}
                        : vector.axes[k].empty() ? Axis{}
                                                 : Axis{1});
  }
  made.axes[axis] = {0};
  site.give(std::move(made));
}

}  // namespace

std::vector<Operator> shape_operators() {
  return {{"Reshape", reshape},
          {"Flatten", flatten},
          {"Squeeze", squeeze},
          {"Unsqueeze", unsqueeze},
          {"Transpose", transpose},
          {"Slice", slice},
          {"Split", split},
          {"Pad", pad},
          {"Resize", resize},
          {"Upsample", resize},
          {"SpaceToDepth", space_to_depth},
          {"DepthToSpace", depth_to_space},
          {"Shape", shape},
          {"Expand", expand},
          {"Tile", tile}};
}

}  // namespace dl::convert::onnx
