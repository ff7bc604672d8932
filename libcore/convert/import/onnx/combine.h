// Operators between values, and between values and constants.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_COMBINE_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_COMBINE_H_

#include <optional>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {

// Add, Sub, Mul or Div, as the node says, of a value and a constant.
Flow with_constant(Site& site, const Flow& flow, const Constant& given,
                   bool constant_first);
// A table [steps, features] that is added to each example; none: it is no such.
std::optional<Flow> positions(Site& site, const Flow& given,
                              const Constant& table);
// Scores or weights of an attention some of which a constant hides.
// Throws Error: kData, these are others than those of later steps.
Flow masked(Site& site, const Flow& given, const Constant& mask,
            bool (*hides)(double));
// The inputs of the node along its axis; constants among them are zeros, to
// which they are added.
void concatenate(Site& site);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_COMBINE_H_
