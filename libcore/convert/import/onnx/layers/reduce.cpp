// Reductions along axes.

#include <algorithm>
#include <cmath>

#include "libcore/convert/import/onnx/window.h"

namespace dl::convert::onnx {
namespace {

// The value with some axes reduced; one or several.  pool: the keys of the
// layer beside its type.
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

// The axes of so many that are reduced: with noop_with_empty_axes maybe none.
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

void reduce_pnorm(Site& site) {
  site.give(reduced_to(site, site.flow(0),
                       {{"kind", "pnorm"}, {"p", power_of(site)}}));
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

double power_of(const Site& site) {
  const double p = site.node().number("p", 2);
  if (!(p >= 1) || std::abs(p * site.node().number("root", 1 / p) - 1) > 1e-4)
    site.refuse(
        "it sums powers and takes another root of them, or their exponent is "
        "below 1; one that fits would be needed");
  return p;
}

std::vector<Operator> reduce_operators() {
  return {{"GlobalAveragePool", global_average},
          {"GlobalLpPool", global_lp},
          {"GlobalMaxPool", global_max},
          {"ReduceMean", reduce_mean},
          {"ReduceMax", reduce_max},
          {"ReduceSum", reduce_sum},
          {"ReduceMin", reduce_min},
          {"ReduceL1", reduce_sizes},
          {"ReduceL2", reduce_norm},
          {"ReduceLogSumExp", reduce_log_sum_exp},
          {"ReducePNorm", reduce_pnorm},
          {"ReduceSumSquare", reduce_squares}};
}

}  // namespace dl::convert::onnx
