// Layout and drawing of networks as SVG and DOT.

#include "libcore/convert/export/diagram.h"

#include <algorithm>

#include "libcore/convert/export/layer_name.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

std::string by(const tensor::Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape.extents())
    text.append(text.empty() ? "" : "x").append(std::to_string(extent));
  return text;
}

// 1 234 567
std::string grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, " ");
  return text;
}

std::string spelt(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("type"))
    return value["type"].get<std::string>();
  if (!value.is_array()) return dump_json(value);
  const bool is_shape = std::ranges::all_of(
      value, [](const Json& one) { return one.is_number_integer(); });
  std::string text;
  if (!is_shape) return std::to_string(value.size()) + " values";
  for (const Json& one : value)
    text.append(text.empty() ? "" : "x").append(dump_json(one));
  return text;
}

// The kernel of a window, and what else the layer is told that is not the
// default, in the order of its page.
std::string words_of(const nn::LayerConfig& layer) {
  std::string text;
  for (const nn::Key& key : layer.type->keys) {
    const std::string name(key.name);
    if (!layer.settings.has(name)) continue;
    const Json& value = layer.settings.at(name);
    const bool steps_by_kernel = name == "stride" &&
                                 key.default_value().is_null() &&
                                 value == layer.settings.at("kernel");
    if (name != "kernel" && (value == key.default_value() ||
                             value == Json("identity") || steps_by_kernel))
      continue;
    if (!text.empty()) text += ", ";
    if (value.is_boolean())
      text += (value == Json(true) ? "" : "no ") + name;
    else if (name == "activation" || name == "loss")
      text += spelt(value);
    else
      text += name + " " + spelt(value);
  }
  return text;
}

// "conv2d1" says its type itself.
std::string title_of(const std::string& name, const std::string& type) {
  return is_numbered(name, type) ? name : name + " (" + type + ")";
}

}  // namespace

Diagram diagram_of(const nn::NetworkConfig& config) {
  const nn::Layout layout = nn::layout_of(config);
  const auto rows = nn::summarise(config, layout);
  Diagram diagram;
  for (const nn::InputConfig& input : config.inputs)
    diagram.boxes.push_back(
        {.title =
             title_of(input.name.empty() ? "features" : input.name, "input"),
         .words = "",
         .size = by(input.shape),
         .input = true});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const nn::LayerConfig& layer = config.layers[i];
    std::string size = by(rows[i].output);
    if (rows[i].parameters > 0)
      size += ", " + grouped(rows[i].parameters) + " parameters";
    if (rows[i].parameters > 0 && layer.training.frozen) size += ", frozen";
    if (layer.shares)
      size += ", parameters of " + config.layers[*layer.shares].name;
    diagram.boxes.push_back({.title = title_of(rows[i].name, rows[i].type),
                             .words = words_of(layer),
                             .size = size});
    for (const nn::Value v : layer.from)
      diagram.arrows.emplace_back(v, config.value_of(i));
  }
  for (const std::size_t output : config.outputs)
    diagram.boxes[config.value_of(output)].output = true;
  return diagram;
}

namespace {

std::string quoted(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

}  // namespace

std::string to_dot(const Diagram& diagram) {
  std::string text =
      "digraph network {\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3fb\",\n"
      "        fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [arrowsize=0.7];\n";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const Diagram::Box& box = diagram.boxes[i];
    std::string label = quoted(box.title);
    for (const std::string& line : {box.words, box.size})
      if (!line.empty()) label += "\\n" + quoted(line);
    text += "  n" + std::to_string(i) + " [label=\"" + label + "\"";
    if (box.input) text += ", fillcolor=\"#f3f3f3\"";
    if (box.output) text += ", fillcolor=\"#e6f4e6\"";
    text += "];\n";
  }
  for (const auto& [from, to] : diagram.arrows)
    text += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + ";\n";
  return text + "}\n";
}

}  // namespace dl::convert
