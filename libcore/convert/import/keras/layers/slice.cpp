// x[...] in a functional model of Keras 3, and values put beside each other
// along a new axis.

#include <algorithm>

#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

// Channels that are put in another order one by one.
constexpr std::int64_t kMostTurned = 64;

bool is(const Json& entry, const char* class_name) {
  return entry.is_object() &&
         entry.value("class_name", Json()) == Json(class_name);
}

Flow reshaped_slice(Site& site, const Flow& value, const Sizes& shape,
                    const std::string& part) {
  return site.add(part, {{"type", "reshape"}, {"shape", shape}}, {value});
}

// From begin to end along an axis.
Flow subset(Site& site, const Flow& value, std::size_t axis, std::int64_t begin,
            std::int64_t end, const std::string& part) {
  return site.add(
      part,
      {{"type", "subset"}, {"axis", axis}, {"begin", begin}, {"end", end}},
      {value});
}

Flow turned(Site& site, const Flow& value, std::size_t axis,
            const std::string& part) {
  const tensor::Shape shape = value.shape();
  if (axis == 0 && shape.rank() == 2)
    return site.add(part, {{"type", "reverse"}}, {value});
  const std::int64_t extent = shape[static_cast<int>(axis)];
  if (extent > kMostTurned)
    site.refuse("it turns an axis of " + std::to_string(extent) +
                " round; that of time, or one of up to " +
                std::to_string(kMostTurned) + ", would be needed");
  std::vector<Flow> parts;
  for (std::int64_t i = extent; i-- > 0;)
    parts.push_back(
        subset(site, value, axis, i, i + 1, part + ".of" + std::to_string(i)));
  if (parts.size() == 1) return parts[0];
  return site.add(part, {{"type", "merge"}, {"axis", axis}}, parts);
}

// A bound as Python has it: from the end where it is negative, cut where it is
// beyond.
std::int64_t bound(const Site& site, const Json& given, std::int64_t extent,
                   std::int64_t fallback) {
  if (given.is_null()) return fallback;
  if (!given.is_number_integer())
    site.refuse("its bounds are computed; numbers would be needed");
  const auto value = given.get<std::int64_t>();
  return std::clamp<std::int64_t>(value < 0 ? value + extent : value, 0,
                                  extent);
}

Flow sliced(Site& site, const Flow& value, std::size_t axis, const Json& config,
            const std::string& part) {
  const std::int64_t extent = value.shape()[static_cast<int>(axis)];
  const Json step = config.value("step", Json());
  if (step == Json(-1) && config.value("start", Json()).is_null() &&
      config.value("stop", Json()).is_null())
    return turned(site, value, axis, part);
  if (!step.is_null() && step != Json(1))
    site.refuse("it takes each so-manieth of an axis, " + dump_json(step) +
                "; all of a part, or all turned round, would be needed");
  const std::int64_t begin =
      bound(site, config.value("start", Json()), extent, 0);
  const std::int64_t end =
      bound(site, config.value("stop", Json()), extent, extent);
  if (begin >= end)
    site.refuse("it takes nothing of an axis of " + std::to_string(extent));
  return begin == 0 && end == extent
             ? value
             : subset(site, value, axis, begin, end, part);
}

// The entries for each axis behind the batch; those that are left out are null
// slices.
std::vector<Json> entries_of(const Site& site, std::size_t rank) {
  const Json& given = site.call().index;
  Json all = given.is_array() ? given : Json::array({given});
  const Json whole{{"class_name", "__slice__"}, {"config", Json::object()}};
  const auto counted =
      static_cast<std::size_t>(std::ranges::count_if(all, [](const Json& one) {
        return !one.is_null() && !is(one, "__ellipsis__");
      }));
  std::vector<Json> entries;
  bool spread = false;
  for (const Json& one : all) {
    if (!is(one, "__ellipsis__")) {
      entries.push_back(one);
      continue;
    }
    if (spread || counted > rank + 1) site.refuse("its index is none");
    spread = true;
    entries.insert(entries.end(), rank + 1 - counted, whole);
  }
  if (counted > rank + 1) site.refuse("its index has too many entries");
  if (!spread) entries.insert(entries.end(), rank + 1 - counted, whole);
  const Json first = entries.empty() ? whole : entries.front();
  if (!is(first, "__slice__") || !first["config"].is_object() ||
      std::ranges::any_of(first["config"],
                          [](const Json& v) { return !v.is_null(); }))
    site.refuse("it takes a part of the batch; all examples would be needed");
  entries.erase(entries.begin());
  return entries;
}

void refuse_each_step(const Site& site) {
  if (site.each_step())
    site.refuse(
        "it is in a TimeDistributed; a model outside of one would be needed");
}

Flow get_item(Site& site) {
  refuse_each_step(site);
  Flow flow = site.as_keras(site.without_mask(site.only()));
  flow.masked = false;
  const std::vector<Json> entries =
      entries_of(site, static_cast<std::size_t>(flow.shape().rank()));
  Sizes shape;  // with the axes that come and without those that go
  std::size_t axis = 0;
  for (const Json& entry : entries) {
    const std::string part = "axis" + std::to_string(axis);
    if (entry.is_null()) {
      shape.push_back(1);
      continue;
    }
    if (entry.is_number_integer()) {
      const std::int64_t extent = flow.shape()[static_cast<int>(axis)];
      auto at = entry.get<std::int64_t>();
      if (at < 0) at += extent;
      if (at < 0 || at >= extent)
        site.refuse("its index " + dump_json(entry) + " is none of " +
                    std::to_string(extent));
      if (extent > 1) flow = subset(site, flow, axis, at, at + 1, part);
    } else if (is(entry, "__slice__") && entry["config"].is_object()) {
      flow = sliced(site, flow, axis, entry["config"], part);
      shape.push_back(flow.shape()[static_cast<int>(axis)]);
    } else {
      site.refuse("it takes what is computed; numbers would be needed");
    }
    ++axis;
  }
  if (shape.empty()) shape.push_back(1);
  return reshaped_slice(site, flow, shape, "");
}

Flow stack(Site& site) {
  refuse_each_step(site);
  std::vector<Flow> values;
  for (const Flow& one : site.in())
    values.push_back(
        site.as_keras(one, "order" + std::to_string(values.size())));
  if (values.empty() || site.call().number)
    site.refuse("it takes a number; values alone would be needed");
  const tensor::Shape whole = values[0].shape();
  const auto extents = whole.extents();
  const auto rank = static_cast<std::int64_t>(extents.size());
  std::int64_t axis = site.integer({"axis"}, -kMostUnits, kMostUnits, 0);
  axis = axis < 0 ? axis + rank + 2 : axis;
  if (axis < 1 || axis > rank + 1)
    site.refuse("its axis is that of the batch, or none");
  Sizes shape(extents.begin(), extents.end());
  shape.insert(shape.begin() + (axis - 1), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].shape() != whole)
      site.refuse("its inputs are of different shapes");
    values[i] =
        reshaped_slice(site, values[i], shape, "in" + std::to_string(i));
  }
  if (values.size() == 1) return values[0];
  return site.add("", {{"type", "merge"}, {"axis", axis - 1}}, values);
}

}  // namespace

std::vector<Class> slice_classes() {
  return {{"GetItem", get_item}, {"Stack", stack}};
}

}  // namespace dl::convert::keras
