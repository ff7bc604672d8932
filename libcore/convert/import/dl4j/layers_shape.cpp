// Layers that move numbers, and those that do one thing to each.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers_dense.h"
#include "libcore/convert/import/dl4j/window.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kSmall = 65535;

Flow activation(Site& site) {
  return activated(site, site.only(), member(site.json(), "activationFn"), "");
}

// Its noise is made of idropout, as that of every layer.
Flow dropout(Site& site) { return site.only(); }

Flow upsample2d(Site& site) {
  return site.add("",
                  {{"type", "upsample2d"},
                   {"size", site.integers("size", 2, 1, kSmall, {1, 1})}},
                  {window_input(site, 2)});
}

Flow upsample1d(Site& site) {
  return site.add("",
                  {{"type", "upsample1d"},
                   {"size", site.integers("size", 1, 1, kSmall, {2})[0]}},
                  {window_input(site, 1)});
}

// [top, bottom, left, right]; of early versions [height, width]
Sizes around(const Site& site, const char* key) {
  const Json& given = member(site.json(), key);
  if (given.is_array() && given.size() == 2) {
    const Sizes two = site.integers(key, 2, 0, kSmall, {});
    return {two[0], two[0], two[1], two[1]};
  }
  return site.integers(key, 4, 0, kSmall, {0, 0, 0, 0});
}

Flow zero_pad2d(Site& site) {
  return site.add(
      "", {{"type", "zero_pad2d"}, {"padding", around(site, "padding")}},
      {window_input(site, 2)});
}

Flow zero_pad1d(Site& site) {
  return site.add("",
                  {{"type", "zero_pad1d"},
                   {"padding", site.integers("padding", 2, 0, kSmall, {0, 0})}},
                  {window_input(site, 1)});
}

Flow crop2d(Site& site) {
  return site.add("",
                  {{"type", "crop2d"}, {"cropping", around(site, "cropping")}},
                  {window_input(site, 2)});
}

Flow crop1d(Site& site) {
  return site.add(
      "",
      {{"type", "crop1d"},
       {"cropping", site.integers("cropping", 2, 0, kSmall, {0, 0})}},
      {window_input(site, 1)});
}

Flow space_to_depth(Site& site) {
  return site.add("",
                  {{"type", "space_to_depth"},
                   {"block", site.integer("blockSize", 1, kSmall, 2)}},
                  {window_input(site, 2)});
}

Flow repeat(Site& site) {
  const char* key = site.has("n") ? "n" : "repetitionFactor";
  return site.add("",
                  {{"type", "repeat"}, {"n", site.integer(key, 1, kSmall, 1)}},
                  {site.in_order(site.only())});
}

}  // namespace

std::vector<Class> shape_classes() {
  return {{"activation", activation},       {"dropout", dropout},
          {"upsampling2d", upsample2d},     {"upsampling", upsample2d},
          {"upsampling1d", upsample1d},     {"zeropadding", zero_pad2d},
          {"zeropadding2d", zero_pad2d},    {"zeropadding1d", zero_pad1d},
          {"cropping2d", crop2d},           {"cropping1d", crop1d},
          {"spacetodepth", space_to_depth}, {"repeatvector", repeat}};
}

}  // namespace dl::convert::dl4j
