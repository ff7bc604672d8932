#include "libcore/convert/import/dl4j/window.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/convert/import/axes.h"

namespace dl::convert::dl4j {
namespace {

constexpr std::int64_t kSmall = 65535;

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
  window.kernel = site.integers("kernelSize", axes, 1, kSmall, kernel);
  window.stride = site.integers("stride", axes, 1, kSmall, stride);
  window.dilation = site.integers("dilation", axes, 1, kSmall, Sizes(axes, 1));
  window.padding = site.integers("padding", axes, 0, kSmall, Sizes(axes, 0));
  const std::string given = site.text("convolutionMode", mode);
  if (given == "Same")
    window.mode = "same";
  else if (given == "Causal" && axes == 1)
    window.mode = "causal";
  else if (given != "Truncate" && given != "Strict")
    site.refuse("its convolutionMode is " + in_quotes(given) +
                "; Truncate, Strict or Same would be needed");
  if (window.mode != "valid") window.padding = Sizes(axes, 0);
  for (const char* key : {"cnn2dDataFormat", "cnn2DFormat", "dataFormat",
                          "rnnDataFormat", "format"})
    if (const std::string format = site.text(key, "NC");
        !format.starts_with("NC"))
      site.refuse("its " + std::string(key) + " is " + in_quotes(format) +
                  "; channels first would be needed, as DL4J has it by itself");
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

Flow padded(Site& site, const Window& window, const Flow& value) {
  if (!window.padded()) return value;
  const Sizes& p = window.padding;
  if (window.axes() == 1)
    return site.add("padding",
                    {{"type", "zero_pad1d"}, {"padding", {p[0], p[0]}}},
                    {value});
  if (window.axes() == 2)
    return site.add(
        "padding",
        {{"type", "zero_pad2d"}, {"padding", {p[0], p[0], p[1], p[1]}}},
        {value});
  site.refuse(
      "it has a padding in numbers; zeros around a volume would be "
      "needed");
}

}  // namespace dl::convert::dl4j
