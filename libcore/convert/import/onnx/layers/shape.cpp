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
  // A batch of one is the row that all its numbers make.
  if (site.extent(flow, kBatch) == 1 && std::erase(made.axes[1], kBatch) > 0)
    made.axes[0].push_back(kBatch);
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

// From begin to end by a step, which leads back where it is below 0.
Sizes places_of(const Site& site, std::int64_t extent, std::int64_t begin,
                std::int64_t end, std::int64_t step) {
  if (step == 0) site.refuse("its step is 0");
  const std::int64_t low = step < 0 ? -1 : 0;
  const auto within = [&](std::int64_t v) {
    return std::clamp(v < 0 ? std::max(v, -extent - 1) + extent : v, low,
                      extent + low);
  };
  step = std::clamp(step, -extent - 1, extent + 1);
  end = within(end);
  Sizes places;
  for (std::int64_t at = within(begin); step > 0 ? at < end : at > end;
       at += step)
    places.push_back(at);
  return places;
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
      site.move_channels(flow);
      flow = reversed(site, flow, axis);
      continue;
    }
    if (steps[i] != 1) {
      flow = site.taken(
          flow, axis,
          places_of(site, extent, (*begins)[i], (*ends)[i], steps[i]));
      continue;
    }
    flow = site.part_of(flow, axis, within((*begins)[i]), within((*ends)[i]));
  }
  site.give(std::move(flow));
}

// begin to end of a constant, along an axis.
Constant part_of(const Site& site, const Constant& whole, std::size_t axis,
                 std::int64_t begin, std::int64_t end) {
  Node cut;
  cut.op = "Slice";
  const auto one = [](std::int64_t v) { return Constant::of_wholes({1}, {v}); };
  const Constant from = one(begin), to = one(end),
                 along = one(static_cast<std::int64_t>(axis));
  const auto made = folded(cut, {&whole, &from, &to, &along});
  if (!made) site.refuse("its parts are not those of its input");
  return *made;
}

void split(Site& site) {
  const Constant* whole = site.constant(0);
  const Sizes shape =
      whole != nullptr ? whole->shape() : site.shape(site.flow(0));
  const std::size_t axis =
      site.axis(site.node().integer("axis", 0), shape.size());
  const std::int64_t extent = shape[axis];
  const std::size_t outputs = site.node().out.size();
  Sizes sizes = site.list(1, "split").value_or(Sizes{});
  if (sizes.empty()) {
    const auto count = static_cast<std::int64_t>(outputs);
    if (site.node().integer("num_outputs", count) != count)
      site.refuse("its num_outputs is not that of its outputs");
    const std::int64_t each = (extent + count - 1) / count;
    for (std::int64_t at = 0; at < extent; at += each)
      sizes.push_back(std::min(each, extent - at));
  }
  std::int64_t begin = 0;
  if (sizes.size() != outputs) site.refuse("its parts are not its outputs");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > extent - begin)
      site.refuse("its parts are not those of " + std::to_string(extent));
    const std::int64_t end = begin + sizes[i];
    // Outputs that nobody reads are skipped.
    const std::string& name = site.node().out[i];
    if (!name.empty() && site.import().readers.count(name) > 0) {
      if (whole != nullptr)
        site.give(part_of(site, *whole, axis, begin, end), i);
      else
        site.give(site.part_of(site.flow(0), axis, begin, end), i);
    }
    begin = end;
  }
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

// An axis as often as it says, one behind the other.
Flow repeated(Site& site, const Flow& flow, std::size_t axis,
              std::int64_t times) {
  if (std::ranges::count(flow.axes[axis], kBatch) > 0)
    site.refuse("it repeats the examples of a batch");
  const std::int64_t extent = site.extent_of(flow, axis);
  if (times < 1 || times > 65535)
    site.refuse("it repeats its input " + std::to_string(times) + " times");
  const Flow vector = extent == 1 ? site.plain(flow) : flow;
  if (extent != 1 || vector.shape().rank() != 1) {
    Sizes places;
    want_small(site, times * extent, extent);
    for (std::int64_t i = 0; i < times * extent; ++i)
      places.push_back(i % extent);
    return site.taken(flow, axis, places);
  }
  // A vector at each of several steps.
  Flow made;
  static_cast<Value&>(made) =
      site.add("", {{"type", "repeat"}, {"n", times}}, {vector});
  for (const Axis& own : vector.axes) {
    const bool batch = std::ranges::count(own, kBatch) > 0;
    made.axes.push_back(batch ? Axis{kBatch} : own.empty() ? own : Axis{1});
  }
  made.axes[axis] = {0};
  made.positive = vector.positive;
  return made;
}

void expand(Site& site) {
  const Sizes wanted = site.known(1, "shape").wholes();
  Flow flow = site.flow(0);
  if (wanted.size() > flow.axes.size())
    flow.axes.insert(flow.axes.begin(), wanted.size() - flow.axes.size(),
                     Axis{});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t k = flow.axes.size() - wanted.size() + i;
    const std::int64_t extent = site.extent_of(flow, k);
    if (wanted[i] == 1 || wanted[i] == extent) continue;
    if (extent != 1)
      site.refuse("it makes " + std::to_string(wanted[i]) +
                  " places of an axis of " + std::to_string(extent));
    flow = repeated(site, flow, k, wanted[i]);
  }
  site.give(std::move(flow));
}

void tile(Site& site) {
  Flow flow = site.flow(0);
  Sizes times = site.known(1, "repeats").wholes();
  if (site.node().opset < 6) {  // of one axis
    const std::size_t axis =
        site.axis(site.known(2, "axis").whole_at(0), flow.axes.size());
    const std::int64_t own = site.known(1, "tiles").whole_at(0);
    times.assign(flow.axes.size(), 1);
    times[axis] = own;
  }
  if (times.size() != flow.axes.size())
    site.refuse("its repeats are not one for each axis");
  for (std::size_t k = 0; k < times.size(); ++k)
    if (times[k] != 1) flow = repeated(site, flow, k, times[k]);
  site.give(std::move(flow));
}

}  // namespace

std::vector<Operator> shape_operators() {
  return {{"Reshape", reshape},     {"Flatten", flatten},
          {"Squeeze", squeeze},     {"Unsqueeze", unsqueeze},
          {"Transpose", transpose}, {"Slice", slice},
          {"Split", split},         {"Shape", shape},
          {"Expand", expand},       {"Tile", tile}};
}

}  // namespace dl::convert::onnx
