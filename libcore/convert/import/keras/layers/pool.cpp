// Pooling.

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/axes.h"
#include "libcore/convert/import/keras/site.h"

namespace dl::convert::keras {
namespace {

// Keras forgets masks where it pools, but for the mean of all steps.
Flow input_of(Site& site, std::size_t axes, bool with_mask) {
  const Flow value = with_mask ? site.only() : site.without_mask(site.only());
  if (site.shape(value).rank() != static_cast<int>(axes) + 1)
    site.refuse("its input is " + site.shape(value).to_string() + "; want " +
                std::to_string(axes + 1) + " dimensions");
  return site.channels_first(axes) ? site.channels_last(value)
                                   : site.as_keras(value);
}

// Theano's "same" is another where it has more before the input, or counts.
void check_theano(const Site& site, const tensor::Shape& shape,
                  const Sizes& kernel, const Sizes& stride, bool mean) {
  for (std::size_t k = 0; k < kernel.size(); ++k) {
    const std::int64_t in = shape[static_cast<int>(k)];
    const std::int64_t out = (in + stride[k] - 1) / stride[k];
    const std::int64_t total = (out - 1) * stride[k] + kernel[k] - in;
    const bool odd = kernel[k] > 2 && kernel[k] % 2 == 1;
    const std::int64_t before = odd ? kernel[k] - 2 : kernel[k] - 1;
    if (mean && before > 0 && site.dialect().means_count_zeros())
      site.refuse(
          "its padding \"same\" is Theano's of Keras 2.1, which counts its "
          "zeros; a padding that does not count would be needed");
    if (before != std::max<std::int64_t>(total, 0) / 2)
      site.refuse(
          "its padding \"same\" is Theano's; a pool with padding in numbers "
          "would be needed");
  }
}

Flow window_pool(Site& site, const std::string& kind, Flow value, Sizes kernel,
                 Sizes stride, const std::string& padding) {
  const bool columns = site.as_columns(kernel.size());
  if (columns) {
    value = site.column(value);
    kernel.push_back(1);
    stride.push_back(1);
  }
  Json node{{"type", kind + "_pool" + std::to_string(kernel.size()) + "d"},
            {"padding", padding}};
  put_axes(node, "kernel", kernel);
  put_axes(node, "stride", stride);
  const Flow flow = site.add(columns ? "pooled" : "", std::move(node), {value});
  return columns ? site.series(flow, "") : flow;
}

Flow pool(Site& site, const std::string& kind, std::size_t axes) {
  const Flow value = input_of(site, axes, false);
  const Sizes kernel = site.integers({"pool_size", "pool_length"}, axes, 1,
                                     kMostExtent, Sizes(axes, 2));
  const Sizes stride =
      site.integers({"strides", "stride"}, axes, 1, kMostExtent, kernel);
  const std::string padding = site.text({"padding", "border_mode"}, "valid");
  if (padding != "valid" && padding != "same")
    site.refuse("its padding is " + in_quotes(padding));
  if (padding == "same" && site.dialect().theano())
    check_theano(site, site.shape(value), kernel, stride, kind == "average");
  return window_pool(site, kind, value, kernel, stride, padding);
}

// global_pool reads sequences, of which a TimeDistributed makes no others.
Flow one_window(Site& site, const std::string& kind, const Flow& value) {
  Sizes all = sizes_of(site.shape(value));
  const std::int64_t channels = all.back();
  all.pop_back();
  const Flow flow = window_pool(site, kind, value, all, all, "valid");
  return site.add("vector", {{"type", "reshape"}, {"shape", {channels}}},
                  {flow});
}

Flow global(Site& site, const std::string& kind, std::size_t axes) {
  const bool mean_of_steps = kind == "average" && axes == 1;
  const bool keep = site.flag({"keepdims"}, false);
  Flow value = input_of(site, axes, mean_of_steps);
  // Images one after another are pooled as one.
  if (axes > 1) value = site.as_one(value);
  Flow flow =
      site.each_step()
          ? one_window(site, kind, value)
          : site.add("", {{"type", "global_pool"}, {"kind", kind}}, {value});
  if (!site.each_step()) flow.masked = false;
  if (!keep) {
    flow.moved = false;
    return flow;
  }
  Sizes shape(axes, 1);
  shape.push_back(site.shape(flow).back());
  return site.add("kept", {{"type", "reshape"}, {"shape", shape}}, {flow});
}

// To a given size, which the input is a multiple of.
Flow adaptive(Site& site, const std::string& kind, std::size_t axes) {
  const Flow value = input_of(site, axes, false);
  const Sizes sizes = site.integers({"output_size"}, axes, 1, kMostExtent);
  Sizes kernel;
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t in = site.shape(value)[static_cast<int>(k)];
    if (in % sizes[k] != 0)
      site.refuse("it makes " + std::to_string(sizes[k]) + " of " +
                  std::to_string(in) + "; windows of one size would be needed");
    kernel.push_back(in / sizes[k]);
  }
  return window_pool(site, kind, value, kernel, kernel, "valid");
}

template <std::size_t kAxes>
Flow adaptive_max(Site& site) {
  return adaptive(site, "max", kAxes);
}
template <std::size_t kAxes>
Flow adaptive_average(Site& site) {
  return adaptive(site, "average", kAxes);
}

template <std::size_t kAxes>
Flow max_pool(Site& site) {
  return pool(site, "max", kAxes);
}
template <std::size_t kAxes>
Flow average_pool(Site& site) {
  return pool(site, "average", kAxes);
}
template <std::size_t kAxes>
Flow global_max(Site& site) {
  return global(site, "max", kAxes);
}
template <std::size_t kAxes>
Flow global_average(Site& site) {
  return global(site, "average", kAxes);
}

}  // namespace

std::vector<Class> pool_classes() {
  return {{"MaxPooling1D", max_pool<1>},
          {"MaxPooling2D", max_pool<2>},
          {"MaxPooling3D", max_pool<3>},
          {"AveragePooling1D", average_pool<1>},
          {"AveragePooling2D", average_pool<2>},
          {"AveragePooling3D", average_pool<3>},
          {"AdaptiveMaxPooling1D", adaptive_max<1>},
          {"AdaptiveMaxPooling2D", adaptive_max<2>},
          {"AdaptiveMaxPooling3D", adaptive_max<3>},
          {"AdaptiveAveragePooling1D", adaptive_average<1>},
          {"AdaptiveAveragePooling2D", adaptive_average<2>},
          {"AdaptiveAveragePooling3D", adaptive_average<3>},
          {"GlobalMaxPooling1D", global_max<1>},
          {"GlobalMaxPooling2D", global_max<2>},
          {"GlobalMaxPooling3D", global_max<3>},
          {"GlobalAveragePooling1D", global_average<1>},
          {"GlobalAveragePooling2D", global_average<2>},
          {"GlobalAveragePooling3D", global_average<3>}};
}

}  // namespace dl::convert::keras
