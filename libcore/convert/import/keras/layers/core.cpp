// Dense, Embedding, Flatten and other layers that most models have.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

// Here a dense layer takes all numbers of an example, or those of a step; there
// those along the last axis: elsewhere that is a convolution of 1x1.
Flow dense(Site& site) {
  const Flow value = site.as_keras(site.only());
  const std::int64_t units =
      site.integer({"units", "output_dim"}, 1, kMostUnits);
  const bool bias = site.flag({"use_bias", "bias"}, true);
  if (site.has({"lora_rank"}))
    site.refuse("it has LoRA weights; merge them with Keras first");
  const Shape shape = site.shape(value);
  const std::int64_t inputs = shape.back();
  const auto arrays =
      site.take("", bias ? std::vector<Shape>{{inputs, units}, {units}}
                         : std::vector<Shape>{{inputs, units}});
  Json node{{"bias", bias}};
  site.add_training(node, "kernel");
  const auto fill = [&] {
    site.fill("weight", last_first(arrays[0]));
    if (bias) site.fill("bias", as_is(arrays[1]));
  };
  if (shape.rank() == 1 ||
      (shape.rank() == 2 && value.form.steps && !site.each_step())) {
    node["type"] = "dense";
    node["units"] = units;
    const Flow flow = add_activated(site, std::move(node), {value});
    fill();
    return flow;
  }
  if (shape.rank() > 4)
    site.refuse("its input has " + std::to_string(shape.rank()) +
                " dimensions; up to 4 would be needed");
  const auto axes = static_cast<std::size_t>(std::max(shape.rank() - 1, 2));
  node["type"] = axes == 2 ? "conv2d" : "conv3d";
  node["filters"] = units;
  node["kernel"] = std::vector<int>(axes, 1);
  Flow flow = value;
  if (shape.rank() == 2)
    flow = site.add("rows",
                    {{"type", "reshape"}, {"shape", {shape[0], 1, inputs}}},
                    {flow});
  flow = site.add("", std::move(node), {flow});
  fill();
  if (shape.rank() == 2)
    flow = site.add("back", {{"type", "reshape"}, {"shape", {shape[0], units}}},
                    {flow});
  if (!site.has({"activation"})) return flow;
  const Json activation = site.view({"activation"}).raw();
  if (activation_of(activation, site.dialect()) == Json("identity"))
    return flow;
  return activated(site, flow, activation);
}

// "abc,cd->abd" is a dense layer.
Flow einsum_dense(Site& site) {
  const std::string equation = site.text({"equation"}, "");
  const auto comma = equation.find(','), arrow = equation.find("->");
  const auto refuse = [&] {
    site.refuse("its equation is " + in_quotes(equation) +
                "; one as abc,cd->abd would be needed");
  };
  if (comma == std::string::npos || arrow == std::string::npos || comma < 2 ||
      arrow != comma + 3)
    refuse();
  const std::string in = equation.substr(0, comma);
  const char from = equation[comma + 1], to = equation[comma + 2];
  const std::string out = in.substr(0, in.size() - 1) + to;
  const std::string last(1, to);
  if (in.back() != from || equation.substr(arrow + 2) != out ||
      in.find(to) != std::string::npos ||
      site.text({"bias_axes"}, last) != last)
    refuse();
  const JsonView shape = site.view({"output_shape"});
  if (shape.raw().is_array() && shape.size() == 0) refuse();
  LayerSpec as_dense = site.layer();
  as_dense.config["units"] =
      shape.raw().is_array() ? shape.raw().back() : shape.raw();
  as_dense.config["use_bias"] = site.has({"bias_axes"});
  Site inner = site.as(as_dense);
  Flow flow = dense(inner);
  inner.check_all_read();
  return flow;
}

Flow embedding(Site& site) {
  const std::int64_t rows = site.integer({"input_dim"}, 1, kMostUnits);
  const std::int64_t units = site.integer({"output_dim"}, 1, kMostUnits);
  const bool mask_zero = site.flag({"mask_zero"}, false);
  const Flow& value = site.only();
  if (site.import().graph->is_input(value.node) && !value.form.tokens) {
    site.import().inputs->tokens.insert(value.node);
    throw Again{};
  }
  const Array table = site.take("", {{rows, units}})[0];
  Json node{{"type", "embedding"}, {"rows", rows}, {"units", units}};
  if (mask_zero) node["mask_zero"] = true;
  site.add_training(node, "embeddings");
  Flow flow = site.add("", std::move(node), {value});
  site.fill("weight", as_is(table));
  flow.masked = mask_zero;
  flow.mask = flow.node;
  return flow;
}

// Keras puts the channels last before it flattens, where its data_format says
// that they are first.
Flow flatten(Site& site) {
  Flow value = site.only();
  if (site.has({"data_format"}) && site.channels_first(2) &&
      site.shape(value).rank() > 1)
    value = site.channels_last(value);
  else
    value = site.as_keras(value);
  Flow flow = site.add("", {{"type", "flatten"}}, {value});
  flow.moved = flow.masked = false;
  return flow;
}

Flow identity(Site& site) { return site.only(); }

// The columns [from, from + columns) of a dense layer of Keras 1, as one.
Flow dense_part(Site& site, const std::string& part, std::int64_t units,
                const Json& activation, bool bias, const Fill& weight,
                const Fill& offset) {
  Json node{{"type", "dense"},
            {"units", units},
            {"bias", bias},
            {"activation", activation}};
  site.add_training(node, "kernel");
  const Flow flow = site.add(part, std::move(node), {site.only()});
  site.fill(flow.node, "weight", weight);
  if (bias) site.fill(flow.node, "bias", offset);
  return flow;
}

// The largest of several dense layers: W [layers, inputs, units].
Flow maxout(Site& site) {
  const std::int64_t units = site.integer({"output_dim"}, 1, kMostUnits);
  const std::int64_t layers = site.integer({"nb_feature"}, 2, 65535, 4);
  const bool bias = site.flag({"bias"}, true);
  const Shape& in = site.shape(site.only());
  if (in.rank() != 1) site.refuse("its input is " + in.to_string());
  std::vector<Shape> shapes = {{layers, in[0], units}};
  if (bias) shapes.push_back({layers, units});
  const auto arrays = site.take("", shapes);
  const auto slice = [&](std::size_t which, std::int64_t i, Shape shape) {
    Array part{shape, {}, arrays[which].own};
    if (!arrays[which].values.empty())
      part.values = arrays[which].values.subspan(
          static_cast<std::size_t>(i * shape.elements()),
          static_cast<std::size_t>(shape.elements()));
    return part;
  };
  std::vector<Flow> all;
  all.reserve(static_cast<std::size_t>(layers));
  for (std::int64_t i = 0; i < layers; ++i)
    all.push_back(dense_part(site, "part" + std::to_string(i), units,
                             "identity", bias,
                             last_first(slice(0, i, {in[0], units})),
                             bias ? as_is(slice(1, i, {units})) : Fill()));
  return site.add("", {{"type", "max"}}, all);
}

// t f(W x + b) + (1 - t) x with t = sigmoid(C x + c)
Flow highway(Site& site) {
  const bool bias = site.flag({"bias"}, true);
  const Flow& x = site.only();
  const Shape& in = site.shape(x);
  if (in.rank() != 1) site.refuse("its input is " + in.to_string());
  std::vector<Shape> shapes = {{in[0], in[0]}, {in[0], in[0]}};
  if (bias) shapes.insert(shapes.end(), 2, Shape{in[0]});
  const auto arrays = site.take("", shapes);
  const auto offset = [&](std::size_t i) {
    return bias ? as_is(arrays[i]) : Fill();
  };
  const Flow gate = dense_part(site, "gate", in[0], "sigmoid", bias,
                               last_first(arrays[1]), offset(3));
  Flow made = dense_part(site, "made", in[0], "identity", bias,
                         last_first(arrays[0]), offset(2));
  if (site.has({"activation"}))
    made = activated(site, made, site.view({"activation"}).raw());
  const Flow taken = site.add("taken", {{"type", "multiply"}}, {made, gate});
  Flow rest = site.add("closed", {{"type", "scale"}, {"factor", -1}}, {gate});
  rest = site.add("rest", {{"type", "shift"}, {"amount", 1}}, {rest});
  const Flow kept = site.add("kept", {{"type", "multiply"}}, {x, rest});
  return site.add("", {{"type", "add"}}, {taken, kept});
}

Flow masking(Site& site) {
  const double value = site.number({"mask_value"}, 0);
  Json node{{"type", "masking"}, {"value", value}};
  if (value != 0) node["clears"] = true;
  Flow flow = site.add("", std::move(node),
                       {site.as_keras(site.without_mask(site.only()))});
  flow.masked = true;
  flow.mask = flow.node;
  return flow;
}

}  // namespace

std::vector<Class> core_classes() {
  return {{"Dense", dense},         {"EinsumDense", einsum_dense},
          {"Embedding", embedding}, {"Flatten", flatten},
          {"Identity", identity},   {"MaxoutDense", maxout},
          {"Highway", highway},     {"Masking", masking}};
}

}  // namespace dl::convert::keras
