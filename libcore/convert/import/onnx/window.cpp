// Windows of ONNX's convolutions and pools.

#include "libcore/convert/import/onnx/window.h"

#include <algorithm>

#include "libcore/base/display.h"

namespace dl::convert::onnx {
namespace {

Sizes sizes(const Site& site, const char* key, std::size_t axes,
            std::int64_t fallback) {
  const Sizes all = site.node().integers(key, Sizes(axes, fallback));
  if (all.size() != axes)
    site.refuse("its " + std::string(key) + " has " +
                std::to_string(all.size()) + " numbers, not " +
                std::to_string(axes));
  for (const std::int64_t one : all)
    if (one < 1 || one > kMostExtent)
      site.refuse("its " + std::string(key) + " has " + std::to_string(one) +
                  "; 1 to 65535 would be needed");
  return all;
}

// [top, bottom, left, right] of the first two axes.
Sizes of_sides(const Sizes& begin, const Sizes& end, std::size_t first) {
  if (begin.size() == 1) return {begin[0], end[0]};
  return {begin[first], end[first], begin[first + 1], end[first + 1]};
}

bool any(const Sizes& sizes) {
  return std::ranges::any_of(sizes, [](std::int64_t one) { return one != 0; });
}

Value with_sides(Site& site, const Value& value, const Sizes& sides) {
  Sizes more, less;
  for (const std::int64_t side : sides) {
    if (std::abs(side) > kMostExtent) site.refuse("its padding is too large");
    more.push_back(std::max<std::int64_t>(side, 0));
    less.push_back(std::max<std::int64_t>(-side, 0));
  }
  const std::string axes = sides.size() == 2 ? "1d" : "2d";
  Value made = value;
  if (any(less))
    made =
        site.add("cut", {{"type", "crop" + axes}, {"cropping", less}}, {made});
  if (any(more))
    made = site.add("padding", {{"type", "zero_pad" + axes}, {"padding", more}},
                    {made});
  return made;
}

// The share that a transposed convolution leaves out of all that its windows
// reach: so much that its output is as large as it says, or as its input times
// the stride.
void cut_to_output(const Site& site, const Sizes& extents,
                   const std::string& automatic, Window& window) {
  const Node& node = site.node();
  const std::size_t axes = window.axes();
  const Sizes more = node.integers("output_padding", Sizes(axes, 0));
  Sizes wanted = node.integers("output_shape", {});
  if (wanted.empty())
    for (std::size_t k = 0; k < axes; ++k)
      wanted.push_back(extents[k] * window.stride[k]);
  if (wanted.size() > axes)  // with the batch and channels, of old writers
    wanted.erase(wanted.begin(),
                 wanted.end() - static_cast<std::ptrdiff_t>(axes));
  if (wanted.size() != axes || more.size() != axes)
    site.refuse("its output has other axes than its input");
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t total = (extents[k] - 1) * window.stride[k] + more[k] +
                               (window.kernel[k] - 1) * window.dilation[k] + 1 -
                               wanted[k];
    if (wanted[k] < 1 || wanted[k] > kMostExtent)
      site.refuse("its output has " + std::to_string(wanted[k]) + " places");
    if (total < 0 && automatic.starts_with("SAME"))
      site.refuse(
          "runtimes differ in how they pad a window that is smaller than its "
          "stride by themselves; pads would be needed");
    // Below 0 there are places at the end that no window reaches.
    const std::int64_t cut = std::max<std::int64_t>(total, 0);
    window.begin[k] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    window.end[k] = total - window.begin[k];
  }
}

}  // namespace

bool Window::padded() const { return any(begin) || any(end); }

std::int64_t Window::places(std::int64_t extent, std::size_t k) const {
  return (extent + begin[k] + end[k] - (kernel[k] - 1) * dilation[k] - 1) /
             stride[k] +
         1;
}

bool Window::is_same(const Sizes& extents) const {
  for (std::size_t k = 0; k < axes(); ++k) {
    const std::int64_t out = (extents[k] + stride[k] - 1) / stride[k];
    const std::int64_t total = std::max<std::int64_t>(
        0,
        (out - 1) * stride[k] + (kernel[k] - 1) * dilation[k] + 1 - extents[k]);
    if (begin[k] != total / 2 || end[k] != total - total / 2) return false;
  }
  return true;
}

void Window::put_into(Json& layer, bool with_dilation,
                      const char* padding) const {
  const auto put = [&](const char* key, const Sizes& all) {
    if (axes() == 1)
      layer[key] = all[0];
    else
      layer[key] = all;
  };
  put("kernel", kernel);
  put("stride", stride);
  if (with_dilation) put("dilation", dilation);
  layer["padding"] = padding;
}

Window window_of(const Site& site, const Sizes& kernel, const Sizes& extents) {
  const std::size_t axes = extents.size();
  Window window{.kernel = kernel,
                .stride = sizes(site, "strides", axes, 1),
                .dilation = sizes(site, "dilations", axes, 1),
                .begin = Sizes(axes, 0),
                .end = Sizes(axes, 0),
                .beyond = Sizes(axes, 0)};
  for (const std::int64_t one : kernel)
    if (one < 1 || one > kMostExtent || kernel.size() != axes)
      site.refuse("its window does not fit its input");
  const std::string automatic = site.node().text("auto_pad", "NOTSET");
  const Sizes pads = site.node().integers("pads", Sizes(2 * axes, 0));
  if (pads.size() != 2 * axes)
    site.refuse("its pads are not two for each axis");
  const bool spreads = site.node().op == "ConvTranspose";
  if (spreads &&
      (automatic.starts_with("SAME") || site.node().has("output_shape"))) {
    cut_to_output(site, extents, automatic, window);
    return window;
  }
  for (std::size_t k = 0; k < axes; ++k) {
    const std::int64_t reach = (kernel[k] - 1) * window.dilation[k] + 1;
    if (automatic == "NOTSET") {
      window.begin[k] = pads[k];
      window.end[k] = pads[axes + k];
      if (pads[k] < 0 || pads[k] > kMostExtent || pads[axes + k] < 0 ||
          pads[axes + k] > kMostExtent)
        site.refuse("its pads are not from 0 to 65535");
    } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t out =
          (extents[k] + window.stride[k] - 1) / window.stride[k];
      const std::int64_t total = std::max<std::int64_t>(
          0, (out - 1) * window.stride[k] + reach - extents[k]);
      window.begin[k] =
          automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.end[k] = total - window.begin[k];
    } else if (automatic != "VALID") {
      site.refuse("its auto_pad is " + in_quotes(automatic));
    }
    const std::int64_t over =
        extents[k] + window.begin[k] + window.end[k] - reach;
    const bool hangs = site.node().integer("ceil_mode", 0) != 0;
    if (!spreads && over < 0 && !(hangs && -over < window.stride[k]))
      site.refuse("its window is larger than its input");
    if (hangs) {
      std::int64_t more =
          (window.stride[k] - over % window.stride[k]) % window.stride[k];
      // A window that would begin in the padding is none.
      if (over + more >= extents[k] + window.begin[k]) more = 0;
      window.beyond[k] = more;
      window.end[k] += more;
    }
  }
  return window;
}

Value zero_padded(Site& site, const Value& value, const Sizes& begin,
                  const Sizes& end) {
  if (!any(begin) && !any(end)) return value;
  if (begin.size() < 3) return with_sides(site, value, of_sides(begin, end, 0));
  // A volume [d, h, w, c] as images [d, h, w c], and then [d h, w, c].
  const tensor::Shape& s = value.shape();
  Value made = with_sides(
      site, site.reshaped(value, {s[0], s[1], s[2] * s[3]}, "planes"),
      of_sides(begin, end, 0));
  const std::int64_t d = made.shape()[0], h = made.shape()[1];
  made = with_sides(site, site.reshaped(made, {d * h, s[2], s[3]}, "rows"),
                    {0, 0, begin[2], end[2]});
  return site.reshaped(made, {d, h, made.shape()[1], s[3]}, "volume");
}

}  // namespace dl::convert::onnx
