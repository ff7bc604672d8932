// Dense, Embedding, Flatten and other layers that most models have.

#include <algorithm>

#include "libcore/convert/import/keras/fills.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

constexpr std::int64_t kMost = 2147483647;

// Here a dense layer takes all numbers of an example, or those of a step; there
// those along the last axis: elsewhere that is a convolution of 1x1.
Flow dense(Site& site) {
  const Flow value = site.as_keras(site.only());
  const std::int64_t units = site.integer({"units", "output_dim"}, 1, kMost);
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
  if (activation_of(activation, site.keras_3()) == Json("identity"))
    return flow;
  return activated(site, flow, activation);
}

Flow embedding(Site& site) {
  const std::int64_t rows = site.integer({"input_dim"}, 1, kMost);
  const std::int64_t units = site.integer({"output_dim"}, 1, kMost);
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
  return flow;
}

// Keras puts the channels last before it flattens, where its data_format says
// that they are first.
Flow flatten(Site& site) {
  Flow value = site.only();
  if (site.channels_first() && site.shape(value).rank() > 1)
    value = site.channels_last(value);
  else
    value = site.as_keras(value);
  Flow flow = site.add("", {{"type", "flatten"}}, {value});
  flow.moved = flow.masked = false;
  return flow;
}

Flow identity(Site& site) { return site.only(); }

Flow masking(Site& site) {
  Flow flow = site.add(
      "", {{"type", "masking"}, {"value", site.number({"mask_value"}, 0)}},
      {site.as_keras(site.only())});
  flow.masked = true;
  return flow;
}

}  // namespace

std::vector<Class> core_classes() {
  return {{"Dense", dense},
          {"Embedding", embedding},
          {"Flatten", flatten},
          {"Identity", identity},
          {"Masking", masking}};
}

}  // namespace dl::convert::keras
