// Translation of Keras 1 configurations to Keras 2.

#include "libcore/convert/import/keras/keras_1.h"

#include <memory>
#include <string>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/fills.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

// Renames what Keras 1 calls by another name; most keys of its layers have
// their old names where layers are made (site.h).
void rename(LayerSpec& layer) {
  if (layer.class_name == "TimeDistributedDense") {
    const Json dense{{"class_name", "Dense"}, {"config", layer.config}};
    layer.class_name = "TimeDistributed";
    layer.config = {{"name", layer.name}, {"layer", dense}};
  }
  if (layer.class_name != "Merge") return;
  const Json mode = layer.config.value("mode", Json("sum"));
  if (!mode.is_string() ||
      layer.config.value("mode_type", Json("raw")) != Json("raw"))
    throw Error{Code::kData,
                "layer " + in_quotes(layer.name) +
                    " (Merge): its mode is Python code, which is never run; "
                    "one of sum, mul, concat, ave, max, dot and cos would be "
                    "needed"};
  for (const auto& [theirs, ours] :
       {std::pair("sum", "Add"), std::pair("mul", "Multiply"),
        std::pair("concat", "Concatenate"), std::pair("ave", "Average"),
        std::pair("max", "Maximum"), std::pair("dot", "Dot"),
        std::pair("cos", "Dot")})
    if (mode == Json(theirs)) layer.class_name = ours;
  if (mode == Json("cos")) layer.config["normalize"] = true;
  // A cosine has an axis more.
  if (mode == Json("cos")) layer.config["keepdims"] = true;
}

void rename(ModelSpec& model);

void rename_all(LayerSpec& layer) {
  rename(layer);
  if (!layer.model) return;
  ModelSpec inner = *layer.model;
  rename(inner);
  layer.model = std::make_shared<const ModelSpec>(std::move(inner));
}

void rename(ModelSpec& model) {
  int nameless = 0;
  for (LayerSpec& layer : model.layers) {
    if (layer.model && layer.name == layer.class_name)
      layer.name = "model_" + std::to_string(++nameless);
    rename_all(layer);
  }
}

// Input description in the first layer of a model.
Json input_of(const ModelSpec& model) {
  const ModelSpec* at = &model;
  while (!at->layers.empty() && at->layers[0].model)
    at = at->layers[0].model.get();
  Json config = Json::object();
  if (at->layers.empty()) return config;
  for (const char* key : {"batch_input_shape", "input_shape", "input_dim"})
    if (const auto found = at->layers[0].config.find(key);
        found != at->layers[0].config.end())
      config[key] = *found;
  return config;
}

// Sequential([Merge([left, right]), ...])
ModelSpec joined(ModelSpec model, const JsonView& branches) {
  ModelSpec graph;
  graph.name = model.name;
  LayerSpec merge = model.layers[0];
  CallSpec merging;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    LayerSpec branch = layer_spec(branches.at(i));
    if (!branch.model) branch.name += "_" + std::to_string(i + 1);
    if (branch.model && branch.name == branch.class_name)
      branch.name = "branch_" + std::to_string(i + 1);
    LayerSpec input{.class_name = "InputLayer",
                    .module = "",
                    .name = branch.name + "_input"};
    input.config = branch.model ? input_of(*branch.model) : branch.config;
    input.calls = {{}};
    branch.calls = {{.from = {{input.name}}}};
    graph.inputs.push_back({input.name});
    merging.from.push_back({branch.name});
    graph.layers.push_back(std::move(input));
    graph.layers.push_back(std::move(branch));
  }
  merge.calls = {merging};
  model.layers[0] = merge;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (i > 0) model.layers[i].calls = {{.from = {{model.layers[i - 1].name}}}};
    graph.layers.push_back(model.layers[i]);
  }
  graph.outputs.push_back({model.layers.back().name});
  return graph;
}

Array moved(const Array& array, const std::vector<int>& axes) {
  auto own = std::make_shared<std::vector<float>>(array.values.size());
  permuted(array, axes)(*own);
  std::vector<std::int64_t> extents;
  extents.reserve(axes.size());
  for (const int axis : axes) extents.push_back(array.shape[axis]);
  return {Shape(std::span<const std::int64_t>(extents)), *own, own};
}

// Matrices or rows side by side.
Array beside(const std::vector<Array>& all) {
  const std::int64_t rows = all[0].shape.elements() / all[0].shape.back();
  std::int64_t columns = 0;
  for (const Array& one : all) columns += one.shape.back();
  auto own = std::make_shared<std::vector<float>>();
  own->reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row)
    for (const Array& one : all) {
      const auto width = static_cast<std::size_t>(one.shape.back());
      const auto part =
          one.values.subspan(static_cast<std::size_t>(row) * width, width);
      own->insert(own->end(), part.begin(), part.end());
    }
  const Shape shape =
      all[0].shape.rank() == 1 ? Shape{columns} : Shape{rows, columns};
  return {shape, *own, own};
}

// W, U and b of each gate, in Keras 1's order; `order`: that of now.
std::vector<Array> gates(const std::vector<Array>& arrays,
                         const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (arrays[i].shape.rank() != (i % 3 == 2 ? 1 : 2) ||
        arrays[i].values.empty() ||
        arrays[i].shape[0] != arrays[i % 3].shape[0])
      return arrays;
  std::vector<Array> joined;
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<Array> all;
    all.reserve(order.size());
    for (const std::size_t gate : order) all.push_back(arrays[3 * gate + part]);
    joined.push_back(beside(all));
  }
  return joined;
}

std::vector<Array> cell(const std::string& class_name,
                        std::vector<Array> arrays) {
  // i, c, f, o
  if (class_name == "LSTM" && arrays.size() == 12)
    return gates(arrays, {0, 2, 1, 3});
  if (class_name == "GRU" && arrays.size() == 9)
    return gates(arrays, {0, 1, 2});
  return arrays;
}

// [length, 1, channels, filters], or [filters, channels, length, 1]
// until 1.0.8.
Array series_kernel(const LayerSpec& layer, Array kernel) {
  const Shape shape = kernel.shape;
  const auto is = [&](const char* key, std::int64_t extent) {
    return layer.config.value(key, Json()) == Json(extent);
  };
  const bool now = shape[1] == 1 && is("filter_length", shape[0]) &&
                   is("nb_filter", shape[3]);
  if (!now && shape[3] == 1) {
    kernel = moved(kernel, {2, 3, 1, 0});
    kernel.shape = {shape[2], shape[1], shape[0]};
  } else if (shape[1] == 1) {
    kernel.shape = {shape[0], shape[2], shape[3]};
  }
  return kernel;
}

bool channels_first(const LayerSpec& layer) {
  return layer.config.value("dim_ordering", Json("tf")) == Json("th");
}

}  // namespace

ModelSpec as_keras_2(const JsonView& json) {
  ModelSpec model = model_spec(json);
  if (model.sequential && !model.layers.empty() &&
      model.layers[0].class_name == "Merge") {
    const JsonView config =
        json.at("config").raw().is_array()
            ? json.at("config").at(std::size_t{0})
            : json.at("config").at("layers").at(std::size_t{0});
    model = joined(std::move(model), config.at("config").at("layers"));
  }
  rename(model);
  return model;
}

std::vector<Array> as_keras_2(const LayerSpec& layer,
                              std::vector<Array> arrays) {
  const std::string& name = layer.class_name;
  const JsonView config(layer.config, Code::kData, "its configuration");
  if (name == "Bidirectional" || name == "TimeDistributed") {
    const LayerSpec held = layer_spec(config.at("layer"));
    if (name == "TimeDistributed") return as_keras_2(held, std::move(arrays));
    const auto half = arrays.begin() + static_cast<long>(arrays.size() / 2);
    std::vector<Array> both = as_keras_2(held, {arrays.begin(), half});
    for (Array& one : as_keras_2(held, {half, arrays.end()}))
      both.push_back(std::move(one));
    return both;
  }
  if (name == "LSTM" || name == "GRU") return cell(name, std::move(arrays));
  if (arrays.empty()) return arrays;
  const Shape& kernel = arrays[0].shape;
  if (name.ends_with("Convolution1D") && kernel.rank() == 4)
    arrays[0] = series_kernel(layer, arrays[0]);
  if (!channels_first(layer)) return arrays;
  if (name.ends_with("Convolution2D") && kernel.rank() == 4)
    arrays[0] = moved(arrays[0], {2, 3, 1, 0});
  if (name == "SeparableConvolution2D" && arrays.size() > 1 &&
      arrays[1].shape.rank() == 4)
    arrays[1] = moved(arrays[1], {2, 3, 1, 0});
  if (name == "Convolution3D" && kernel.rank() == 5)
    arrays[0] = moved(arrays[0], {2, 3, 4, 1, 0});
  return arrays;
}

}  // namespace dl::convert::keras
