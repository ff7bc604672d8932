// The same numbers in another shape or order, some left out, zeros around them.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

using tensor::Shape;

Flow reshaped(Site& site, const Flow& value, const Sizes& shape,
              const std::string& part) {
  Flow flow = site.add(part, {{"type", "reshape"}, {"shape", shape}}, {value});
  flow.masked = false;
  return flow;
}

// One extent may be -1: what is left.
Flow reshape(Site& site) {
  const Flow value = site.as_keras(site.without_mask(site.only()));
  Sizes shape = site.view({"target_shape", "dims"}).integers(-1, kMostUnits);
  std::int64_t known = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0 || shape.size() > 7)
      site.refuse("its target_shape is none");
    if (extent > 0 && known <= kMostUnits) known *= extent;
  }
  const std::int64_t all = site.shape(value).elements();
  for (std::int64_t& extent : shape)
    if (extent == -1) extent = std::max<std::int64_t>(all / known, 1);
  if (shape.empty()) site.refuse("its target_shape is none");
  return reshaped(site, value, shape, "");
}

Flow permute(Site& site) {
  const Flow value = site.as_keras(site.without_mask(site.only()));
  Sizes axes = site.view({"dims"}).integers(1, 7);
  for (std::int64_t& axis : axes) --axis;
  return site.add("", {{"type", "permute"}, {"axes", axes}}, {value});
}

Flow repeat(Site& site) {
  return site.add(
      "", {{"type", "repeat"}, {"n", site.integer({"n"}, 1, kMostExtent)}},
      {site.as_keras(site.only())});
}

// The pairs of [[top, bottom], [left, right]]; [top, left] stands for twice
// each, and one number for all.
Sizes sides_of(const Site& site, Site::Keys keys, std::size_t axes,
               std::int64_t fallback) {
  if (!site.has(keys)) return Sizes(2 * axes, fallback);
  const JsonView given = site.view(keys);
  if (!given.raw().is_array())
    return Sizes(2 * axes, given.integer(0, kMostExtent));
  if (axes == 1 && given.size() == 2) return given.integers(0, kMostExtent);
  if (axes == 2 && given.size() == 4)  // of Keras 1
    return given.integers(0, kMostExtent);
  if (given.size() != axes) given.fail(std::to_string(axes) + " pairs");
  Sizes sides;
  for (std::size_t k = 0; k < axes; ++k) {
    const JsonView one = given.at(k);
    if (!one.raw().is_array()) {
      sides.insert(sides.end(), 2, one.integer(0, kMostExtent));
      continue;
    }
    const Sizes pair = one.integers(0, kMostExtent);
    if (pair.size() != 2) one.fail("2 integers");
    sides.insert(sides.end(), pair.begin(), pair.end());
  }
  return sides;
}

Flow image_of(Site& site, std::size_t axes) {
  const Flow value = site.without_mask(site.only());
  if (site.shape(value).rank() != static_cast<int>(axes) + 1)
    site.refuse("its input is " + site.shape(value).to_string());
  return site.channels_first(axes) ? site.channels_last(value)
                                   : site.as_keras(value);
}

// A volume [d, h, w, c] is padded or cropped as images: [d, h, w c] and then
// [d h, w, c].
Flow volume_sides(Site& site, const Flow& value, const std::string& type,
                  const std::string& key, const Sizes& sides) {
  Sizes s = sizes_of(site.shape(value));
  Flow flow = reshaped(site, value, {s[0], s[1], s[2] * s[3]}, "planes");
  flow = site.add(
      "outer",
      {{"type", type}, {key, {sides[0], sides[1], sides[2], sides[3]}}},
      {flow});
  const Shape outer = site.shape(flow);
  flow = reshaped(site, flow, {outer[0] * outer[1], s[2], s[3]}, "rows");
  flow = site.add("inner", {{"type", type}, {key, {0, 0, sides[4], sides[5]}}},
                  {flow});
  const Shape inner = site.shape(flow);
  return reshaped(site, flow, {outer[0], outer[1], inner[1], inner[2]}, "");
}

Flow sides(Site& site, const std::string& type, const std::string& key,
           std::size_t axes) {
  const Flow value = image_of(site, axes);
  const Sizes all = sides_of(site, {key.c_str()}, axes, 1);
  if (axes == 3) return volume_sides(site, value, type + "2d", key, all);
  if (site.as_columns(axes))
    return site.series(
        site.add("wide", {{"type", type + "2d"}, {key, {all[0], all[1], 0, 0}}},
                 {site.column(value)}),
        "");
  return site.add("", {{"type", type + std::to_string(axes) + "d"}, {key, all}},
                  {value});
}

template <std::size_t kAxes>
Flow zero_pad(Site& site) {
  return sides(site, "zero_pad", "padding", kAxes);
}
template <std::size_t kAxes>
Flow crop(Site& site) {
  return sides(site, "crop", "cropping", kAxes);
}

// The middle of an image, one pixel nearer to its start where that is uneven.
Flow center_crop(Site& site) {
  const Flow value = image_of(site, 2);
  Sizes cut;
  for (const auto& [k, key] : {std::pair(0, "height"), std::pair(1, "width")}) {
    const std::int64_t in = site.shape(value)[k];
    const std::int64_t out = site.integer({key}, 1, kMostExtent);
    if (out > in)
      site.refuse(
          "it makes images larger; a layer that resizes them would be needed");
    cut.insert(cut.end(), {(in - out) / 2, in - out - (in - out) / 2});
  }
  return site.add("", {{"type", "crop2d"}, {"cropping", cut}}, {value});
}

Flow upsample_1d(Site& site) {
  const std::int64_t size = site.integer({"size", "length"}, 1, kMostExtent, 2);
  const Flow value = image_of(site, 1);
  if (!site.as_columns(1))
    return site.add("", {{"type", "upsample1d"}, {"size", size}}, {value});
  return site.series(
      site.add("wide", {{"type", "upsample2d"}, {"size", {size, 1}}},
               {site.column(value)}),
      "");
}

Flow upsample_2d(Site& site) {
  const Flow value = image_of(site, 2);
  const std::string kind = site.text({"interpolation"}, "nearest");
  if (kind != "nearest" && kind != "bilinear")
    site.refuse("its interpolation is " + in_quotes(kind) +
                "; only nearest and bilinear are there");
  if (kind == "bilinear" && site.dialect().bilinear_by_corners())
    site.refuse(
        "its interpolation is bilinear as Keras before tf.keras had it, by the "
        "corners of pixels; one by their middles would be needed");
  return site.add("",
                  {{"type", "upsample2d"},
                   {"size", site.integers({"size"}, 2, 1, kMostExtent, {2, 2})},
                   {"interpolation", kind}},
                  {value});
}

Flow upsample_3d(Site& site) {
  const Flow value = image_of(site, 3);
  const Sizes size = site.integers({"size"}, 3, 1, kMostExtent, {2, 2, 2});
  const Sizes s = sizes_of(site.shape(value));
  Flow flow = reshaped(site, value, {s[0], s[1], s[2] * s[3]}, "planes");
  flow = site.add(
      "outer", {{"type", "upsample2d"}, {"size", {size[0], size[1]}}}, {flow});
  flow = reshaped(site, flow, {s[0] * size[0] * s[1] * size[1], s[2], s[3]},
                  "rows");
  flow = site.add("inner", {{"type", "upsample2d"}, {"size", {1, size[2]}}},
                  {flow});
  return reshaped(site, flow,
                  {s[0] * size[0], s[1] * size[1], s[2] * size[2], s[3]}, "");
}

}  // namespace

std::vector<Class> shape_classes() {
  return {{"Reshape", reshape},           {"Permute", permute},
          {"RepeatVector", repeat},       {"ZeroPadding1D", zero_pad<1>},
          {"ZeroPadding2D", zero_pad<2>}, {"ZeroPadding3D", zero_pad<3>},
          {"Cropping1D", crop<1>},        {"Cropping2D", crop<2>},
          {"Cropping3D", crop<3>},        {"CenterCrop", center_crop},
          {"UpSampling1D", upsample_1d},  {"UpSampling2D", upsample_2d},
          {"UpSampling3D", upsample_3d}};
}

}  // namespace dl::convert::keras
