// Several nodes that together are one layer or activation.
//
// Writers spell out what their opset has no operator for.  These are found
// before the network is made, and each becomes one node; what it was made of
// goes where nobody else reads it.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_PATTERN_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_PATTERN_H_

#include <string>

#include "libcore/convert/import/onnx/model.h"

namespace dl::convert::onnx {

// Constants that follow from others alone, then patterns.
void simplify(Model& model);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_PATTERN_H_
