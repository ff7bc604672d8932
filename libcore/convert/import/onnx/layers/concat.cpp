// Values and constants side by side.

#include <algorithm>
#include <utility>

#include "libcore/convert/import/onnx/combine.h"
#include "libcore/convert/import/onnx/older.h"

namespace dl::convert::onnx {
namespace {

// The values of a Concat side by side.
Flow joined(Site& site, const std::vector<Flow>& flows) {
  if (flows.size() == 1) return flows[0];
  const std::size_t rank = flows[0].axes.size();
  const std::size_t axis = site.axis(concat_axis(site.node()), rank);
  // All in the order of the first, with the axis in it, though it be of 1.
  std::vector<std::size_t> order;
  for (int one = 0; one < flows[0].shape().rank(); ++one)
    for (std::size_t k = 0; k < rank; ++k)
      if (flows[0].axes[k] == Axis{one}) order.push_back(k);
  if (std::ranges::count(order, axis) == 0) order.push_back(axis);
  Flow made;
  made.positive = std::ranges::all_of(flows, &Flow::positive);
  std::vector<Value> values;
  for (const Flow& flow : flows) {
    std::vector<Axis> ours;
    for (std::size_t k = 0; k < rank; ++k)
      if (flow.axes.size() != rank ||
          (std::ranges::count(flow.axes[k], kBatch) > 0) !=
              (std::ranges::count(flows[0].axes[k], kBatch) > 0) ||
          (k != axis && site.extent_of(flow, k) != site.extent_of(flows[0], k)))
        site.refuse("its inputs differ along other axes than its own");
    for (const std::size_t k : order) {
      if (flow.axes[k].size() > 1 ||
          std::ranges::count(flow.axes[k], kBatch) > 0)
        site.refuse("it is along the batch");
      ours.push_back(flow.axes[k]);
    }
    values.push_back(site.shaped(flow, ours));
  }
  const auto at = std::ranges::find(order, axis) - order.begin();
  Json layer{{"type", "merge"}};
  if (at + 1 != static_cast<std::ptrdiff_t>(order.size())) layer["axis"] = at;
  static_cast<Value&>(made) = site.add("", std::move(layer), values);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto found = std::ranges::find(order, k);
    if (found != order.end())
      made.axes.push_back({static_cast<int>(found - order.begin())});
    else
      made.axes.push_back(std::ranges::count(flows[0].axes[k], kBatch) > 0
                              ? Axis{kBatch}
                              : Axis{});
  }
  return made;
}

// Whether its first numbers, so many, come again and again.
bool repeats(const Constant& constant, std::size_t count) {
  for (std::size_t i = count; std::cmp_less(i, constant.elements()); ++i)
    if (constant.at(i) != constant.at(i % count)) return false;
  return true;
}

// A constant between values, with an axis of 1 for the batch.
Constant of_one_example(Site& site, const Constant& given, const Flow& like,
                        std::size_t axis) {
  Sizes shape = site.shape(like);
  if (given.shape().size() != shape.size())
    site.refuse("its inputs have other numbers of dimensions");
  Constant one = given;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (std::ranges::count(like.axes[k], kBatch) == 0) continue;
    shape[k] = 1;
    if (k == axis) site.refuse("it is along the batch");
    if (given.shape()[k] == 1) continue;
    if (const auto value = given.uniform()) {
      Sizes own = given.shape();
      own[k] = 1;
      one = Constant::of_reals(own, {static_cast<float>(*value)});
      continue;
    }
    const std::size_t inner = static_cast<std::size_t>(given.elements()) /
                              static_cast<std::size_t>(given.shape()[0]);
    if (k != 0 || !repeats(given, inner))
      site.refuse("its constant is another one for each example");
    std::vector<float> all = given.reals();
    all.resize(inner);
    Sizes own = given.shape();
    own[0] = 1;
    one = Constant::of_reals(own, std::move(all));
  }
  shape[axis] = one.shape()[axis];
  const auto made = broadcast(one, shape);
  if (!made || made->elements() > kMostFolded)
    site.refuse("its inputs differ along other axes than its own");
  return *made;
}

}  // namespace

void concatenate(Site& site) {
  std::vector<Flow> flows;
  const std::size_t count = site.node().in.size();
  const Flow* like = nullptr;
  for (std::size_t i = 0; i < count; ++i)
    if (site.constant(i) == nullptr) like = &site.flow(i);
  if (like == nullptr) site.refuse("it has no inputs");
  const std::size_t axis =
      site.axis(concat_axis(site.node()), like->axes.size());
  std::vector<Constant> table;
  std::int64_t ahead = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (const Constant* given = site.constant(i)) {
      table.push_back(of_one_example(site, *given, *like, axis));
      ahead += table.back().shape()[axis];
      continue;
    }
    Flow flow = site.plain(site.flow(i));
    Sizes shape = site.shape(flow);
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (std::ranges::count(flow.axes[k], kBatch) > 0) shape[k] = 1;
    table.push_back(Constant::of_reals(shape, {0}));
    if (ahead > 0) flow = with_zeros_along(site, flow, axis, ahead, 0);
    ahead = 0;
    flows.push_back(std::move(flow));
  }
  const bool constants = flows.size() < count;
  if (ahead > 0)
    flows.back() = with_zeros_along(site, flows.back(), axis, 0, ahead);
  Flow made = joined(site, flows);
  if (!constants) return site.give(std::move(made));
  std::vector<const Constant*> parts;
  parts.reserve(table.size());
  for (const Constant& one : table) parts.push_back(&one);
  const auto all = folded(site.node(), parts);
  if (!all) site.refuse("its inputs differ along other axes than its own");
  if (auto placed = positions(site, made, *all))
    return site.give(std::move(*placed));
  site.give(scaled_by_each(site, made, nullptr, &*all));
}

}  // namespace dl::convert::onnx
