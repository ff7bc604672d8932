// Convolutions.  Their biases lie before their weights.  Nodes come before
// both: they check that there are not too many.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/dl4j/layers/dense.h"
#include "libcore/convert/import/dl4j/maps.h"
#include "libcore/convert/import/dl4j/window.h"

namespace dl::convert::dl4j {
namespace {

std::int64_t product(const Sizes& sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) all *= size;
  return all;
}

// {a, b, window...}
Sizes with(std::int64_t a, std::int64_t b, const Sizes& window) {
  Sizes all = {a, b};
  all.insert(all.end(), window.begin(), window.end());
  return all;
}

void check_inputs(const Site& site, const Flow& value) {
  const std::int64_t wanted = site.integer("nin", 0, kMostUnits, 0);
  const std::int64_t channels = Site::shape(value).back();
  if (wanted > 0 && wanted != channels)
    site.refuse("it wants " + std::to_string(wanted) + " channels, and gets " +
                std::to_string(channels));
}

std::size_t take_bias(Site& site, std::int64_t count) {
  return site.flag("hasBias", true) ? site.take("b", count, Kind::kBias)
                                    : kNoVariable;
}

void fill_bias(Site& site, std::size_t bias) {
  if (bias != kNoVariable) site.fill("bias", bias, as_is());
}

// [filters, channels, window...] as [filters, window..., channels]
Map of_filters(std::int64_t filters, std::int64_t channels,
               const Sizes& window) {
  std::vector<int> axes = {0};
  for (int k = 0; k < static_cast<int>(window.size()); ++k)
    axes.push_back(k + 2);
  axes.push_back(1);
  return permuted(with(filters, channels, window), axes);
}

// Kernels of series are [window, channels, filters] since 1.0.0-M1; they are
// known by their format, which 1.0.0-beta7 has as well.
Map of_series(const Site& site, std::int64_t filters, std::int64_t channels,
              const Sizes& window) {
  if (!site.has("rnnDataFormat")) return of_filters(filters, channels, window);
  site.note(
      "its weights are taken to lie as 1.0.0-M1 and later versions have them; "
      "if 1.0.0-beta7 wrote it, take the rnnDataFormat of such layers out of "
      "its configuration");
  return permuted({window[0], channels, filters}, {2, 0, 1});
}

template <std::size_t kAxes>
Flow convolution(Site& site) {
  Flow value = window_input(site, kAxes);
  check_inputs(site, value);
  const Window window =
      window_of(site, kAxes, Sizes(kAxes, kAxes == 3 ? 2 : 5), Sizes(kAxes, 1),
                kAxes == 3 ? "Same" : "Truncate");
  value = padded(site, window, value);
  const std::int64_t channels = Site::shape(value).back();
  const std::int64_t filters = site.integer("nout", 1, kMostUnits);
  Json node{{"type", "conv" + std::to_string(kAxes) + "d"},
            {"filters", filters},
            {"bias", site.flag("hasBias", true)}};
  window.put_into(node, true);
  const Flow flow = add_activated(site, node, {value});
  const std::size_t bias = take_bias(site, filters);
  const std::size_t weight = site.take(
      "W", filters * channels * product(window.kernel), Kind::kWeight);
  fill_bias(site, bias);
  site.fill("weight", weight,
            kAxes == 1 ? of_series(site, filters, channels, window.kernel)
                       : of_filters(filters, channels, window.kernel));
  return flow;
}

// [window, window, channels, multiplier] as [channels, multiplier, window...]
Flow depthwise(Site& site) {
  Flow value = window_input(site, 2);
  check_inputs(site, value);
  const Window window = window_of(site, 2, {5, 5}, {1, 1});
  value = padded(site, window, value);
  const std::int64_t channels = Site::shape(value).back();
  const std::int64_t multiplier =
      site.integer("depthMultiplier", 1, kMostExtent, 1);
  Json node{{"type", "depthwise_conv2d"},
            {"depth_multiplier", multiplier},
            {"bias", site.flag("hasBias", true)}};
  window.put_into(node, true);
  const Flow flow = add_activated(site, node, {value});
  const std::size_t bias = take_bias(site, channels * multiplier);
  const std::size_t weight = site.take(
      "W", channels * multiplier * product(window.kernel), Kind::kWeight);
  fill_bias(site, bias);
  site.fill("weight", weight,
            permuted({window.kernel[0], window.kernel[1], channels, multiplier},
                     {2, 3, 0, 1}));
  return flow;
}

// [multiplier, channels, window...] as [channels, multiplier, window...], and
// [filters, channels multiplier, 1, 1]
Flow separable(Site& site) {
  Flow value = window_input(site, 2);
  check_inputs(site, value);
  const Window window = window_of(site, 2, {5, 5}, {1, 1});
  value = padded(site, window, value);
  const std::int64_t channels = Site::shape(value).back();
  const std::int64_t multiplier =
      site.integer("depthMultiplier", 1, kMostExtent, 1);
  const std::int64_t filters = site.integer("nout", 1, kMostUnits);
  Json node{{"type", "separable_conv2d"},
            {"filters", filters},
            {"depth_multiplier", multiplier},
            {"bias", site.flag("hasBias", true)}};
  window.put_into(node, true);
  const Flow flow = add_activated(site, node, {value});
  const std::size_t bias = take_bias(site, filters);
  const std::size_t depth = site.take(
      "W", channels * multiplier * product(window.kernel), Kind::kWeight);
  const std::size_t point =
      site.take("pW", filters * channels * multiplier, Kind::kWeight);
  fill_bias(site, bias);
  site.fill("depth_weight", depth,
            permuted(with(multiplier, channels, window.kernel), {1, 0, 2, 3}));
  site.fill("point_weight", point, as_is());
  return flow;
}

// [channels, filters, window...] as [filters, window..., channels].  Their
// padding is cropped.
Flow transposed(Site& site) {
  const Flow value = window_input(site, 2);
  check_inputs(site, value);
  const Window window = window_of(site, 2, {5, 5}, {1, 1});
  const std::int64_t channels = Site::shape(value).back();
  const std::int64_t filters = site.integer("nout", 1, kMostUnits);
  Json node{{"type", "conv2d_transpose"},
            {"filters", filters},
            {"bias", site.flag("hasBias", true)}};
  window.put_into(node, true);
  Flow flow = add_activated(site, node, {value});
  const std::size_t bias = take_bias(site, filters);
  const std::size_t weight = site.take(
      "W", channels * filters * product(window.kernel), Kind::kWeight);
  fill_bias(site, bias);
  site.fill("weight", weight,
            permuted(with(channels, filters, window.kernel), {1, 2, 3, 0}));
  if (!window.padded()) return flow;
  const Sizes& p = window.padding;
  return site.add("cropped",
                  {{"type", "crop2d"}, {"cropping", {p[0], p[0], p[1], p[1]}}},
                  {flow});
}

}  // namespace

std::vector<Class> convolution_classes() {
  return {{"convolution", convolution<2>},
          {"convolution2d", convolution<2>},
          {"convolution1d", convolution<1>},
          {"convolution3d", convolution<3>},
          {"depthwiseconvolution2d", depthwise},
          {"separableconvolution2d", separable},
          {"deconvolution2d", transposed}};
}

}  // namespace dl::convert::dl4j
