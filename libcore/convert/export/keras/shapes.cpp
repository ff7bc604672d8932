// The same numbers in another shape or order, some left out, zeros around them.

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

using tensor::Shape;

Json sizes_of(const Shape& shape) {
  const auto extents = shape.extents();
  return std::vector<std::int64_t>(extents.begin(), extents.end());
}

void reshaped(KerasLayer& l, const Shape& shape) {
  l.add("Reshape", {{"target_shape", sizes_of(shape)}}, shape);
}

void flatten(KerasLayer& l) { l.last("Flatten", Json::object()); }
void reshape(KerasLayer& l) { reshaped(l, l.output()); }

void permuted(KerasLayer& l, const std::vector<int>& axes, const Shape& shape) {
  Json dims = Json::array();
  for (const int axis : axes) dims.push_back(axis + 1);
  l.add("Permute", {{"dims", dims}}, shape);
}
void permute(KerasLayer& l) {
  std::vector<int> axes;
  for (const Json& axis : l.settings.at("axes"))
    axes.push_back(axis.get<int>());
  permuted(l, axes, l.output());
}

// The part from begin to end along an axis is a crop of its planes.
void cut(KerasLayer& l, int axis, std::int64_t begin, std::int64_t end) {
  const Shape& in = l.input().shape;
  std::int64_t outer = 1, inner = 1;
  for (int k = 0; k < in.rank(); ++k) {
    if (k < axis) outer *= in[k];
    if (k > axis) inner *= in[k];
  }
  reshaped(l, {outer, in[axis], inner});
  l.add("Cropping2D", {{"cropping", {{0, 0}, {begin, in[axis] - end}}}},
        {outer, end - begin, inner});
  reshaped(l, l.output());
}

void subset(KerasLayer& l) {
  const auto axis = static_cast<int>(l.settings.integer("axis"));
  const int rank = l.input().shape.rank();
  cut(l, axis < 0 ? axis + rank : axis, l.settings.integer("begin"),
      l.settings.integer("end"));
}

void last_step(KerasLayer& l) {
  const std::int64_t steps = l.input().shape[0];
  cut(l, 0, steps - 1, steps);
}

void repeat(KerasLayer& l) {
  l.last("RepeatVector", {{"n", l.settings.integer("n")}});
}

// [top, bottom, left, right], or [begin, end].
Json edges(const Json& all) {
  if (all.size() == 2) return all;
  return {{all[0], all[1]}, {all[2], all[3]}};
}
void zero_pad(KerasLayer& l) {
  l.last(by_axes(l, "ZeroPadding"),
         {{"padding", edges(l.settings.at("padding"))}});
}
void crop(KerasLayer& l) {
  l.last(by_axes(l, "Cropping"),
         {{"cropping", edges(l.settings.at("cropping"))}});
}
void upsample(KerasLayer& l) {
  Json config{{"size", l.settings.at("size")}};
  if (l.settings.has("interpolation"))
    config["interpolation"] = l.settings.at("interpolation");
  l.last(by_axes(l, "UpSampling"), config);
}

void space_to_depth(KerasLayer& l) {
  const Shape& in = l.input().shape;
  const std::int64_t b = l.settings.integer("block");
  const std::int64_t h = in[0] / b, w = in[1] / b;
  reshaped(l, {h, b, w, b, in[2]});
  permuted(l, {0, 2, 1, 3, 4}, {h, w, b, b, in[2]});
  reshaped(l, l.output());
}

}  // namespace

std::span<const KerasRule> keras_shapes() {
  static constexpr KerasRule kRules[] = {{"flatten", flatten},
                                         {"reshape", reshape},
                                         {"permute", permute},
                                         {"subset", subset},
                                         {"last_step", last_step},
                                         {"repeat", repeat},
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
