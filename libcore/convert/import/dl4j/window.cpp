// Windows of DL4J's convolutions and pools.

#include "libcore/convert/import/dl4j/window.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/axes.h"

namespace dl::convert::dl4j {
namespace {

bool any_beside(const Sizes& sizes, std::int64_t usual) {
  return std::ranges::any_of(sizes, [&](std::int64_t s) { return s != usual; });
}

}  // namespace

bool Window::padded() const { return any_beside(padding, 0); }
bool Window::dilated() const { return any_beside(dilation, 1); }

void Window::put_into(Json& node, bool with_dilation) const {
  put_axes(node, "kernel", kernel);
  put_axes(node, "stride", stride);
  if (with_dilation) put_axes(node, "dilation", dilation);
  node["padding"] = mode;
}

Window window_of(const Site& site, std::size_t axes, const Sizes& kernel,
                 const Sizes& stride, const char* mode) {
  Window window;
  window.kernel = site.integers("kernelSize", axes, 1, kMostExtent, kernel);
  window.stride = site.integers("stride", axes, 1, kMostExtent, stride);
  window.dilation =
      site.integers("dilation", axes, 1, kMostExtent, Sizes(axes, 1));
  window.padding =
      site.integers("padding", axes, 0, kMostExtent, Sizes(axes, 0));
  const std::string given = site.text("convolutionMode", mode);
  if (given == "Same")
    window.mode = "same";
  else if (given == "Causal" && axes == 1)
    window.mode = "causal";
  else if (given != "Truncate" && given != "Strict")
    site.refuse("its convolutionMode is " + in_quotes(given) +
                "; Truncate, Strict or Same would be needed");
  if (window.mode != "valid") window.padding = Sizes(axes, 0);
  return window;
}

Flow window_input(Site& site, std::size_t axes) {
  const Flow& value = site.only();
  if (Site::shape(value).rank() != static_cast<int>(axes) + 1)
    site.refuse("its input is " + Site::shape(value).to_string() + ", of " +
                std::to_string(Site::shape(value).rank()) +
                " dimensions; want " + std::to_string(axes + 1));
  return value;
}

namespace {

Flow reshaped(Site& site, const std::string& part, const Sizes& shape,
              const Flow& value) {
  return site.add(part, {{"type", "reshape"}, {"shape", shape}}, {value});
}

// A volume [d, h, w, c] computed by nodes for images: one to [d, h, w c], one
// to [d h, w, c].
Flow of_volume(Site& site, const std::string& part, const Json& outer,
               const Json& inner, const Flow& value) {
  const std::string before = part.empty() ? part : part + ".";
  const tensor::Shape s = Site::shape(value);
  Flow flow =
      reshaped(site, before + "planes", {s[0], s[1], s[2] * s[3]}, value);
  flow = site.add(before + "outer", outer, {flow});
  const std::int64_t d = Site::shape(flow)[0], h = Site::shape(flow)[1];
  flow = reshaped(site, before + "rows", {d * h, s[2], s[3]}, flow);
  flow = site.add(before + "inner", inner, {flow});
  return reshaped(site, part, {d, h, Site::shape(flow)[1], s[3]}, flow);
}

}  // namespace

Flow with_sides(Site& site, const std::string& part, const std::string& type,
                const Sizes& sides, const Flow& value) {
  const char* key = type == "crop" ? "cropping" : "padding";
  const auto node = [&](const Sizes& some) {
    return Json{{"type", type + (some.size() == 2 ? "1d" : "2d")}, {key, some}};
  };
  if (sides.size() < 6) return site.add(part, node(sides), {value});
  return of_volume(site, part, node({sides.begin(), sides.begin() + 4}),
                   node({0, 0, sides[4], sides[5]}), value);
}

Flow enlarged(Site& site, const Sizes& size, const Flow& value) {
  if (size.size() == 1)
    return site.add("", {{"type", "upsample1d"}, {"size", size[0]}}, {value});
  const auto node = [](std::int64_t a, std::int64_t b) {
    return Json{{"type", "upsample2d"}, {"size", {a, b}}};
  };
  if (size.size() == 2) return site.add("", node(size[0], size[1]), {value});
  return of_volume(site, "", node(size[0], size[1]), node(1, size[2]), value);
}

Flow padded(Site& site, const Window& window, const Flow& value) {
  if (!window.padded()) return value;
  Sizes sides;
  for (const std::int64_t p : window.padding) sides.insert(sides.end(), 2, p);
  return with_sides(site, "padding", "zero_pad", sides, value);
}

}  // namespace dl::convert::dl4j
