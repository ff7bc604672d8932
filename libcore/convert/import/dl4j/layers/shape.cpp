// Layers that move numbers, and those that do one thing to each.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers/dense.h"
#include "libcore/convert/import/dl4j/window.h"

namespace dl::convert::dl4j {
namespace {

Flow activation(Site& site) {
  return activated(site, site.only(), member(site.json(), "activationFn"), "");
}

// Its noise is made of idropout, as that of every layer.
Flow dropout(Site& site) { return site.only(); }

template <std::size_t kAxes>
Flow upsample(Site& site) {
  const Flow value = window_input(site, kAxes);
  return enlarged(site,
                  site.integers("size", kAxes, 1, kMostExtent,
                                Sizes(kAxes, kAxes == 1 ? 2 : 1)),
                  value);
}

// Two numbers of each axis; of early versions one, of images [height, width].
template <std::size_t kAxes>
Flow sides(Site& site, const std::string& type, const char* key) {
  const Flow value = window_input(site, kAxes);
  const Json& given = member(site.json(), key);
  Sizes sizes;
  if (kAxes > 1 && given.is_array() && given.size() == kAxes) {
    for (const std::int64_t one : site.integers(key, kAxes, 0, kMostExtent, {}))
      sizes.insert(sizes.end(), 2, one);
  } else {
    sizes = site.integers(key, 2 * kAxes, 0, kMostExtent, Sizes(2 * kAxes, 0));
  }
  return with_sides(site, "", type, sizes, value);
}

template <std::size_t kAxes>
Flow zero_pad(Site& site) {
  return sides<kAxes>(site, "zero_pad", "padding");
}

template <std::size_t kAxes>
Flow crop(Site& site) {
  return sides<kAxes>(site, "crop", "cropping");
}

Flow space_to_depth(Site& site) {
  return site.add("",
                  {{"type", "space_to_depth"},
                   {"block", site.integer("blockSize", 1, kMostExtent, 2)}},
                  {window_input(site, 2)});
}

Flow repeat(Site& site) {
  const char* key = site.has("n") ? "n" : "repetitionFactor";
  Flow flow = site.add(
      "", {{"type", "repeat"}, {"n", site.integer(key, 1, kMostExtent, 1)}},
      {site.in_order(site.only())});
  flow.last = channels_last_in(site.json()) == true;
  return flow;
}

}  // namespace

std::vector<Class> shape_classes() {
  return {{"activation", activation},     {"dropout", dropout},
          {"upsampling1d", upsample<1>},  {"upsampling", upsample<2>},
          {"upsampling2d", upsample<2>},  {"upsampling3d", upsample<3>},
          {"zeropadding1d", zero_pad<1>}, {"zeropadding", zero_pad<2>},
          {"zeropadding2d", zero_pad<2>}, {"zeropadding3d", zero_pad<3>},
          {"cropping1d", crop<1>},        {"cropping2d", crop<2>},
          {"cropping3d", crop<3>},        {"spacetodepth", space_to_depth},
          {"repeatvector", repeat}};
}

}  // namespace dl::convert::dl4j
