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

// The domain of operators that stand for nodes and are not ONNX's.
inline constexpr char kOwnDomain[] = "dl-tools";

// Constants that follow from others alone, then patterns.
void simplify(Model& model);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_PATTERN_H_
