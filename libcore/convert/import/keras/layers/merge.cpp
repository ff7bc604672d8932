// Layers of several inputs.

#include <algorithm>

#include "libcore/convert/import/keras/arithmetic.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;
// All with their channels where those of the first are in Keras.
std::vector<Flow> alike(Site& site) {
  std::vector<Flow> values = site.in();
  const bool mixed = std::ranges::any_of(values, &Flow::moved) &&
                     !std::ranges::all_of(values, &Flow::moved);
  for (std::size_t i = 0; mixed && i < values.size(); ++i)
    values[i] = site.as_keras(values[i], "order" + std::to_string(i));
  return values;
}

// Ones that nothing changes, which repeat a single channel.
Flow spread_channel(Site& site, const Flow& value, std::int64_t channels,
                    const std::string& part) {
  Json node{{"bias", false}, {"frozen", true}};
  if (site.shape(value).rank() == 1) {
    node["type"] = "dense";
    node["units"] = channels;
  } else {
    node["type"] = "conv2d";
    node["filters"] = channels;
    node["kernel"] = {1, 1};
  }
  node["weight_init"] = "ones";
  const Flow flow = site.add(part, std::move(node), {value});
  site.fill(flow.node, "weight", all_of(1));
  return flow;
}

// A value repeated along axes of extent 1, as NumPy does.  An image's worth of
// axes, which a vector or a series has with extents of 1.
Flow broadcast(Site& site, const Flow& value, const Shape& shape,
               const std::string& part) {
  const Sizes wanted = sizes_of(shape);
  Sizes own = sizes_of(site.shape(value));
  if (own == wanted) return value;
  if (wanted.size() > 3)
    site.refuse("its inputs " + site.shape(value).to_string() + " and " +
                shape.to_string() +
                " differ; up to 3 dimensions would be needed to repeat one");
  // Keras puts axes of 1 behind the batch.
  own.insert(own.begin(), wanted.size() - own.size(), 1);
  Sizes image(3 - own.size(), 1), target(3 - own.size(), 1);
  image.insert(image.end(), own.begin(), own.end());
  target.insert(target.end(), wanted.begin(), wanted.end());
  for (std::size_t k = 0; k < 3; ++k)
    if (image[k] != target[k] && image[k] != 1)
      site.refuse("its inputs are " + site.shape(value).to_string() + " and " +
                  shape.to_string() + ", neither of which can be repeated");
  Flow flow = site.add(part + ".image", {{"type", "reshape"}, {"shape", image}},
                       {value});
  if (image[2] != target[2])
    flow = spread_channel(site, flow, target[2], part + ".channels");
  if (image[0] != target[0] || image[1] != target[1])
    flow = site.add(part + ".repeated",
                    {{"type", "upsample2d"},
                     {"size", {target[0] / image[0], target[1] / image[1]}}},
                    {flow});
  return site.add(part, {{"type", "reshape"}, {"shape", wanted}}, {flow});
}

std::vector<Flow> of_one_shape(Site& site) {
  std::vector<Flow> values = alike(site);
  Sizes most;
  for (const Flow& value : values) {
    const Sizes own = sizes_of(site.shape(value));
    if (own.size() > most.size())
      most.insert(most.begin(), own.size() - most.size(), 1);
    for (std::size_t k = 0; k < own.size(); ++k) {
      std::int64_t& extent = most[most.size() - own.size() + k];
      extent = std::max(extent, own[k]);
    }
  }
  const Shape shape{std::span<const std::int64_t>(most)};
  const auto whole = [&](const Flow& value) {
    return site.shape(value) == shape;
  };
  // The mask of one that is not repeated is that of the result.
  const bool keeps_mask = std::ranges::any_of(
      values, [&](const Flow& value) { return value.masked && whole(value); });
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (keeps_mask && !whole(values[i]))
      values[i] = site.without_mask(values[i]);
    values[i] = broadcast(site, values[i], shape, "in" + std::to_string(i));
  }
  return values;
}

// The numbers of a tensor that is written out, and how its last axis differs
// from others: they have an extent of 1.
std::vector<float> channels_of(const Site& site, const Json& constant) {
  const Json* row = &constant;
  while (row->is_array() && row->size() == 1 && row->front().is_array())
    row = &row->front();
  std::vector<float> numbers;
  for (const Json& one : row->is_array() ? *row : Json::array({*row})) {
    if (!one.is_number() || numbers.size() > 65535)
      site.refuse(
          "it computes with a constant of several axes; a number for each "
          "channel would be needed");
    numbers.push_back(one.get<float>());
  }
  return numbers;
}

// y = w x + b by channel, of which one is the constant, and nothing learns.
Flow by_channel(Site& site, bool factor, float (*f)(float)) {
  const Flow value = site.as_keras(site.only());
  std::vector<float> numbers = channels_of(site, site.call().constant);
  for (float& one : numbers) one = f(one);
  const auto channels = static_cast<std::size_t>(site.shape(value).back());
  if (numbers.size() == 1) numbers.resize(channels, numbers[0]);
  if (numbers.size() != channels)
    site.refuse("its constant has " + std::to_string(numbers.size()) +
                " numbers for " + std::to_string(channels) + " channels");
  if (!site.weighted())
    site.refuse(
        "it computes with a constant, which a network without weights has no "
        "place for");
  Flow flow =
      site.add("", {{"type", "element_multiply"}, {"frozen", true}}, {value});
  const Fill given = [numbers](std::span<float> to) {
    std::ranges::copy(numbers, to.begin());
  };
  site.fill("weight", factor ? given : all_of(1));
  site.fill("bias", factor ? all_of(0) : given);
  return flow;
}

// Since Keras 3.4 what one input counts counts, and without a mask all do;
// here, as before it, what all count.
void check_masks(Site& site) {
  if (!site.dialect().joins_masks_by_any()) return;
  if (!std::ranges::all_of(site.in(), &Flow::masked))
    return site.forget_masks();
  for (const Flow& one : site.in())
    if (one.mask != site.in()[0].mask)
      site.refuse(
          "its inputs have different masks, and a step counts that either "
          "counts; inputs of one mask would be needed");
}

Flow elementwise(Site& site, const char* type) {
  if (site.in().size() < 2)
    site.refuse("it takes one input; two would be needed");
  check_masks(site);
  return site.add("", {{"type", type}}, of_one_shape(site));
}

// Products, maxima and minima that leave padding out since Keras 3.4: an input
// whose step is padding does not count there.
Flow without_padding(Site& site, const char* type) {
  const auto masked = std::ranges::count_if(site.in(), &Flow::masked);
  if (!site.dialect().joins_masks_by_any() || masked == 0)
    return elementwise(site, type);
  if (masked != std::ssize(site.in()))
    site.refuse(
        "some of its inputs have a mask, and count only where that says so; a "
        "mask of all inputs, or of none, would be needed");
  Flow flow = elementwise(site, type);
  site.leave_padding(flow,
                     "its padding counts, which it leaves as it was; a layer "
                     "behind it that heeds its mask would be needed");
  return flow;
}

float itself(float x) { return x; }
float negative(float x) { return -x; }
float inverse(float x) { return 1 / x; }
bool with_constant(const Site& site, bool either_side) {
  if (site.call().constant.is_null()) return false;
  if (!either_side && site.call().number_first)
    site.refuse("its constant comes first; behind the value it would be said");
  return true;
}

Flow add(Site& site) {
  if (with_constant(site, true)) return by_channel(site, false, itself);
  const auto number = site.call().number;
  return number ? linear(site, site.only(), 1, *number)
                : elementwise(site, "add");
}
Flow subtract(Site& site) {
  if (with_constant(site, false)) return by_channel(site, false, negative);
  const auto number = site.call().number;
  if (!number) return elementwise(site, "subtract");
  return site.call().number_first ? linear(site, site.only(), -1, *number)
                                  : linear(site, site.only(), 1, -*number);
}
Flow multiply(Site& site) {
  if (with_constant(site, true)) return by_channel(site, true, itself);
  const auto number = site.call().number;
  return number ? linear(site, site.only(), *number, 0)
                : without_padding(site, "multiply");
}
Flow divide(Site& site) {
  if (with_constant(site, false)) return by_channel(site, true, inverse);
  const auto number = site.call().number;
  if (!number) {
    check_masks(site);
    std::vector<Flow> values = of_one_shape(site);
    if (values.size() != 2) site.refuse("it takes other than two inputs");
    values[1] = reciprocal(site, values[1]);
    return site.add("", {{"type", "multiply"}}, values);
  }
  if (site.call().number_first)
    return linear(site, reciprocal(site, site.only()), *number, 0);
  if (*number == 0) site.refuse("it divides by 0");
  return linear(site, site.only(), 1 / *number, 0);
}

// A class of keras.applications: the first input, and the second times a
// number.
Flow custom_scale(Site& site) {
  std::vector<Flow> values = of_one_shape(site);
  if (values.size() != 2) site.refuse("it takes two inputs");
  values[1] = site.add(
      "factor", {{"type", "scale"}, {"factor", site.number({"scale"}, 1)}},
      {values[1]});
  return site.add("", {{"type", "add"}}, values);
}

Flow average(Site& site) { return elementwise(site, "average"); }
// max(x, 0 x + c), or min.
Flow bounded(Site& site, double bound, bool above) {
  const Flow flow = site.only();
  if (!above && bound == 0)
    return site.add("", {{"type", "activation"}, {"activation", "relu"}},
                    {flow});
  Flow other = site.add("nothing", {{"type", "scale"}, {"factor", 0}}, {flow});
  if (bound != 0)
    other = site.add("bound", {{"type", "shift"}, {"amount", bound}}, {other});
  return site.add("", {{"type", above ? "min" : "max"}}, {flow, other});
}

Flow maximum(Site& site) {
  const auto number = site.call().number;
  return number ? bounded(site, *number, false) : without_padding(site, "max");
}
Flow minimum(Site& site) {
  const auto number = site.call().number;
  return number ? bounded(site, *number, true) : without_padding(site, "min");
}

// Axes count the batch; those of values whose channels are last here count
// these first.
Flow concatenate(Site& site) {
  if (site.in().size() < 2) return site.only();
  check_masks(site);
  const std::vector<Flow> values = alike(site);
  const int rank = site.shape(values[0]).rank();
  std::int64_t axis = site.integer({"axis", "concat_axis"}, -8, 8, -1);
  axis = axis < 0 ? axis + rank : axis - 1;
  if (axis < 0 || axis >= rank)
    site.refuse("its axis is that of the batch, or none");
  if (values[0].moved) axis = axis == 0 ? rank - 1 : axis - 1;
  // A node of several inputs takes all steps at once.
  if (site.each_step()) axis += 1;
  if (axis == 0 && std::ranges::any_of(values, &Flow::masked))
    site.refuse(
        "it puts sequences with masks one behind another, whose masks are "
        "joined; sequences without would be needed");
  Json node{{"type", "merge"}};
  if (axis + 1 != values[0].shape().rank()) node["axis"] = axis;
  return site.add("", std::move(node), values);
}

Flow dot(Site& site) {
  std::vector<Flow> values = alike(site);
  if (values.size() != 2 || site.shape(values[0]).rank() != 1 ||
      site.shape(values[1]).rank() != 1)
    site.refuse("it multiplies " +
                (values.size() == 2
                     ? site.shape(values[0]).to_string() + " and " +
                           site.shape(values[1]).to_string()
                     : "other than two values") +
                "; two vectors would be needed");
  if (site.each_step())
    site.refuse(
        "it is in a TimeDistributed; a model outside of one would be needed");
  if (site.has({"axes", "dot_axes"})) {
    Json axes = site.view({"axes", "dot_axes"}).raw();
    while (axes.is_array() && axes.size() == 1) axes = Json(axes[0]);
    if (axes.is_array() && axes.size() == 2 && axes[0] == axes[1])
      axes = Json(axes[0]);
    if (axes.is_array() && axes.size() == 1) axes = Json(axes[0]);
    if (axes != Json(1) && axes != Json(-1))
      site.refuse("its axes are " + dump_json(axes) +
                  "; those of two vectors, 1, would be needed");
  }
  if (site.flag({"normalize"}, false))
    for (std::size_t i = 0; i < 2; ++i)
      values[i] =
          site.add("unit" + std::to_string(i),
                   {{"type", "l2_normalize"}, {"epsilon", 1e-12}}, {values[i]});
  Flow flow = site.add("", {{"type", "dot"}}, values);
  if (!site.flag({"keepdims"}, false)) return flow;  // of Keras 1's cosine
  return site.add("row", {{"type", "reshape"}, {"shape", {1, 1}}}, {flow});
}

}  // namespace

std::vector<Class> merge_classes() {
  return {{"Add", add},
          {"Subtract", subtract},
          {"Multiply", multiply},
          {"Average", average},
          {"Maximum", maximum},
          {"Minimum", minimum},
          {"Divide", divide},
          {"TrueDivide", divide},
          {"CustomScaleLayer", custom_scale},
          {"Concatenate", concatenate},
          {"Dot", dot}};
}

}  // namespace dl::convert::keras
