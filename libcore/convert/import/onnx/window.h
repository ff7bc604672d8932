// Windows that slide, of convolutions and pools, with padding in numbers.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_WINDOW_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_WINDOW_H_

#include <cstddef>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {

struct Window {
  Sizes kernel, stride, dilation, begin, end;
  Sizes beyond;  // what of `end` is there for the sake of ceil_mode

  std::size_t axes() const { return kernel.size(); }
  bool padded() const;
  // How many places the window has along an axis of that extent; as layers here
  // pad with "same".
  std::int64_t places(std::int64_t extent, std::size_t k) const;
  bool is_same(const Sizes& extents) const;
  void put_into(Json& layer, bool with_dilation, const char* padding) const;
};

// Window of the node, for a kernel of this size, over an input of these
// extents. ceil_mode lets a last window stick out: its end is padding.
Window window_of(const Site& site, const Sizes& kernel, const Sizes& extents);
// The exponent of powers that are summed and whose root is taken.
double power_of(const Site& site);
// An image of as many axes with zeros at its sides; negative ones cut.
Value zero_padded(Site& site, const Value& value, const Sizes& begin,
                  const Sizes& end);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_WINDOW_H_
