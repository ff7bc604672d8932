// Windows that slide, of convolutions and pools.

#ifndef DL_LIBCORE_CONVERT_IMPORT_DL4J_WINDOW_H_
#define DL_LIBCORE_CONVERT_IMPORT_DL4J_WINDOW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/convert/import/dl4j/site.h"

namespace dl::convert::dl4j {

struct Window {
  Sizes kernel, stride, dilation;
  Sizes padding;               // at each side of each axis; of "valid" alone
  std::string mode = "valid";  // "same", "causal"

  std::size_t axes() const { return kernel.size(); }
  bool padded() const;
  bool dilated() const;
  // kernel, stride and maybe dilation, and padding, as keys of a node.
  void put_into(Json& node, bool with_dilation) const;
};

// Window of a layer; the defaults are those of its class.
Window window_of(const Site& site, std::size_t axes, const Sizes& kernel,
                 const Sizes& stride, const char* mode = "Truncate");
// An input of as many axes and channels, which is brought to that where it is a
// vector of them.
Flow window_input(Site& site, std::size_t axes);
// A value with zeros at the two sides of each axis, or without what lies there:
// a node of such a type, "zero_pad" or "crop", with the layer's name and
// `part`.
Flow with_sides(Site& site, const std::string& part, const std::string& type,
                const Sizes& sides, const Flow& value);
// A value as often along each axis.
Flow enlarged(Site& site, const Sizes& size, const Flow& value);
// A value with zeros at its sides, as the window wants; of what "valid" has
// none at all for, here.
Flow padded(Site& site, const Window& window, const Flow& value);

}  // namespace dl::convert::dl4j

#endif  // DL_LIBCORE_CONVERT_IMPORT_DL4J_WINDOW_H_
