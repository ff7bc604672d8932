// Vertices of a ComputationGraph that are no layers.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/legacy.h"
#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {

Flow reshape_vertex(Site& site);  // preprocessors.cpp

namespace {

// Vectors in one order: as they are where all are of one image.
std::vector<Flow> alike(Site& site) {
  std::vector<Flow> all = site.in();
  const bool same = std::ranges::all_of(
      all, [&](const Flow& flow) { return flow.image == all[0].image; });
  if (!same)
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = site.in_order(all[i], "order" + std::to_string(i));
  return all;
}

// Axis 1 of theirs is that of channels; time and space follow, unless it has
// its channels last.
int axis_of(const Site& site, std::int64_t theirs, int rank, bool last) {
  if (theirs < 0) theirs += rank + 1;
  if (theirs < 1 || theirs > rank)
    site.refuse("its axis is " + std::to_string(theirs) +
                "; one of an example would be needed");
  if (last && rank > 1) return static_cast<int>(theirs) - 1;
  return theirs == 1 ? rank - 1 : static_cast<int>(theirs) - 2;
}

Flow merge(Site& site) {
  std::vector<Flow> all = site.in();
  if (all.size() == 1) return all[0];
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = site.in_order(all[i], "order" + std::to_string(i));
  const int rank = Site::shape(all.at(0)).rank();
  const int axis =
      axis_of(site, site.integer("mergeAxis", -8, 8, 1), rank, all[0].last);
  Json node{{"type", "merge"}};
  if (axis + 1 != rank) node["axis"] = axis;
  return site.add("", node, all);
}

Flow element_wise(Site& site) {
  const std::string op = site.text("op", "Add");
  const char* type = op == "Add"        ? "add"
                     : op == "Subtract" ? "subtract"
                     : op == "Product"  ? "multiply"
                     : op == "Average"  ? "average"
                     : op == "Max"      ? "max"
                                        : nullptr;
  if (type == nullptr)
    site.refuse("its op is " + in_quotes(op) +
                "; Add, Subtract, Product, Average or Max would be needed");
  const std::vector<Flow> all = alike(site);
  if (all.size() == 1) return all[0];
  Flow flow = site.add("", {{"type", type}}, all);
  flow.image = all[0].image;
  return flow;
}

Flow subset(Site& site) {
  const Flow value = site.in_order(site.only());
  const std::int64_t from = site.integer("from", 0, kMostUnits - 1);
  const std::int64_t to = site.integer("to", from, kMostUnits - 1);
  Json node{{"type", "subset"}, {"begin", from}, {"end", to + 1}};
  // It is of axis 1, whatever that is.
  if (value.last && Site::shape(value).rank() > 1) node["axis"] = 0;
  return site.add("", node, {value});
}

Flow stack(Site& site) {
  return site.add("", {{"type", "stack"}}, alike(site));
}

Flow unstack(Site& site) {
  const char* from = site.has("from") ? "from" : "fromIndex";
  return site.add("",
                  {{"type", "unstack"},
                   {"index", site.integer(from, 0, 65534, 0)},
                   {"of", site.integer("stackSize", 1, 65535, 1)}},
                  {site.only()});
}

// Theirs divides by the larger of norm and epsilon.
Flow l2_normalize(Site& site) {
  const Flow& value = site.only();
  const double epsilon = site.number("eps", 1e-8);
  const auto extents = Site::shape(value).extents();
  Flow flow = site.add("",
                       {{"type", "l2_normalize"},
                        {"epsilon", std::max(epsilon * epsilon, 1e-37)}},
                       {site.vector(value)});
  flow.image = extents.size() == 1 ? value.image : flow.image;
  if (extents.size() == 1) return flow;
  return site.add(
      "shape",
      {{"type", "reshape"},
       {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}},
      {flow});
}

Flow l2_distance(Site& site) {
  std::vector<Flow> all = alike(site);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = site.vector(all[i], "flat" + std::to_string(i));
  const double epsilon = site.number("eps", 1e-8);
  return site.add("",
                  {{"type", "l2_distance"},
                   {"epsilon", std::max(epsilon * epsilon, 1e-37)}},
                  all);
}

Flow scale(Site& site) {
  return site.add(
      "", {{"type", "scale"}, {"factor", site.number("scaleFactor", 1)}},
      {site.only()});
}

Flow shift(Site& site) {
  return site.add(
      "", {{"type", "shift"}, {"amount", site.number("shiftFactor", 0)}},
      {site.only()});
}

Flow preprocessor(Site& site) {
  return preprocessed(site, member(site.json(), "preProcessor"), site.only());
}

Flow last_time_step_vertex(Site& site) {
  return site.add("", {{"type", "last_step"}}, {site.only()});
}

Flow reverse_time_series(Site& site) {
  return site.add("", {{"type", "reverse"}}, {site.only()});
}

// As many steps as an input of the network has.
Flow duplicate(Site& site) {
  const std::string like = site.text("inputName", "");
  const auto& flows = site.import().flows;
  const auto found = flows.find(like);
  if (found == flows.end())
    site.refuse("it is as long as " + in_quotes(like) + ", which there is not");
  Flow flow = site.add("", {{"type", "repeat_like"}},
                       {site.in_order(site.only()), found->second});
  flow.last = false;
  return flow;
}

Flow pool_helper(Site& site) {
  return site.add("", {{"type", "crop2d"}, {"cropping", {1, 0, 1, 0}}},
                  {site.only()});
}

Flow frozen_vertex(Site& site) {
  const Json inner = unwrapped(member(site.json(), "underlying"));
  Site below = site.as(inner, site.in());
  below.freeze();
  return make_vertex(below);
}

}  // namespace

std::vector<Class> vertex_classes() {
  return {{"merge", merge},
          {"elementwise", element_wise},
          {"subset", subset},
          {"stack", stack},
          {"unstack", unstack},
          {"l2normalize", l2_normalize},
          {"l2", l2_distance},
          {"scale", scale},
          {"shift", shift},
          {"reshape", reshape_vertex},
          {"preprocessor", preprocessor},
          {"lasttimestep", last_time_step_vertex},
          {"reversetimeseries", reverse_time_series},
          {"duplicatetotimeseries", duplicate},
          {"poolhelper", pool_helper},
          {"frozen", frozen_vertex}};
}

}  // namespace dl::convert::dl4j
