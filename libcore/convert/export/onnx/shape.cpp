// Other shapes, parts, edges and sizes.

#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

void reshape(OnnxLayer& layer) {
  layer.give(layer.graph.reshape(layer.x(), batch_of(layer.output.shape)));
}

void permute(OnnxLayer& layer) {
  Ints order{0};
  for (const std::int64_t axis : layer.settings.at("axes").get<Ints>())
    order.push_back(axis + 1);
  layer.give(layer.graph.transpose(layer.x(), order));
}

void subset(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const int rank = layer.output.shape.rank();
  std::int64_t axis = layer.settings.integer("axis");
  if (axis < 0) axis += rank;
  const std::int64_t begin = layer.settings.integer("begin"),
                     end = layer.settings.integer("end");
  layer.give(g.slice(layer.x(), axis + 1, begin, end));
  if (axis == 0 && layer.output.steps && !layer.mask().empty())
    layer.give_mask(g.slice(layer.mask(), 1, begin, end));
}

// Top, bottom, left and right of images; both ends of series: before and
// behind each axis.
struct Edges {
  Ints before, behind;
};
Edges edges_of(const OnnxLayer& layer, const char* key) {
  const Ints all = layer.settings.integers(key);
  if (all.size() == 2) return {{all[0]}, {all[1]}};
  return {{all[0], all[2]}, {all[1], all[3]}};
}

void zero_pad(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const Edges edges = edges_of(layer, "padding");
  layer.give_in_order([&](bool first) {
    Ints pads;
    for (const Ints& side : {edges.before, edges.behind}) {
      pads.insert(pads.end(), first ? 2 : 1, 0);
      pads.insert(pads.end(), side.begin(), side.end());
      if (!first) pads.push_back(0);
    }
    return g.node("Pad", {first ? layer.x_first() : layer.x(), g.ints(pads)});
  });
  if (layer.output.steps && !layer.mask().empty())
    layer.give_mask(g.node(
        "Pad", {layer.mask(), g.ints({0, edges.before[0], 0, edges.behind[0]}),
                g.real(1)}));
}

void crop(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const Edges edges = edges_of(layer, "cropping");
  const auto cut = [&](std::string x, std::int64_t first_axis) {
    for (std::size_t i = 0; i < edges.before.size(); ++i)
      x = g.slice(x, first_axis + static_cast<std::int64_t>(i), edges.before[i],
                  layer.inputs[0].shape[static_cast<int>(i)] - edges.behind[i]);
    return x;
  };
  layer.give_in_order([&](bool first) {
    return cut(first ? layer.x_first() : layer.x(), first ? 2 : 1);
  });
  if (layer.output.steps && !layer.mask().empty())
    layer.give_mask(cut(layer.mask(), 1));
}

// x [batch, channels, ...], each place `size` times.
std::string larger(OnnxGraph& g, const std::string& x, const Ints& size,
                   bool bilinear) {
  Reals scales{1, 1};
  scales.insert(scales.end(), size.begin(), size.end());
  const auto rank = static_cast<std::int64_t>(scales.size());
  OnnxAttributes attributes{
      {"mode", std::string("linear")},
      {"coordinate_transformation_mode", std::string("half_pixel")}};
  if (!bilinear)
    attributes = {{"mode", std::string("nearest")},
                  {"coordinate_transformation_mode", std::string("asymmetric")},
                  {"nearest_mode", std::string("floor")}};
  return g.node("Resize", {x, "", g.reals(scales, {rank})}, attributes);
}

void upsample(OnnxLayer& layer) {
  OnnxGraph& g = layer.graph;
  const Ints size = layer.settings.integers("size");
  const bool bilinear = layer.settings.has("interpolation") &&
                        layer.settings.text("interpolation") == "bilinear";
  layer.give_first(larger(g, layer.x_first(), size, bilinear));
  if (!layer.output.steps || layer.mask().empty()) return;
  const std::string mask = g.node("Unsqueeze", {layer.mask(), g.ints({1})});
  layer.give_mask(
      g.node("Squeeze", {larger(g, mask, size, false), g.ints({1})}));
}

void space_to_depth(OnnxLayer& layer) {
  layer.give_first(
      layer.graph.node("SpaceToDepth", {layer.x_first()},
                       {{"blocksize", layer.settings.integer("block")}}));
}

}  // namespace

std::span<const OnnxRule> onnx_shape() {
  static constexpr OnnxRule kRules[] = {{"flatten", reshape},
                                        {"reshape", reshape},
                                        {"permute", permute},
                                        {"subset", subset},
                                        {"zero_pad1d", zero_pad},
                                        {"zero_pad2d", zero_pad},
                                        {"crop1d", crop},
                                        {"crop2d", crop},
                                        {"upsample1d", upsample},
                                        {"upsample2d", upsample},
                                        {"space_to_depth", space_to_depth}};
  return kRules;
}

}  // namespace dl::convert
