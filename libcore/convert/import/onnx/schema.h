// The attributes and inputs of ONNX's operators that are read.
//
// One that is not read may change what a node does: the node is refused then.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_SCHEMA_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_SCHEMA_H_

#include "libcore/convert/import/onnx/model.h"

namespace dl::convert::onnx {

// The newest of ONNX's own opsets, and of ai.onnx.ml, whose operators are known
// here: newer ones may mean other things by the same names.
constexpr std::int64_t kNewestOpset = 28, kNewestMlOpset = 5;

// Whether the node's operator is in the table: all that layers, constants or
// patterns are made of are.
bool is_known(const Node& node);

// Throws Error: kData, a node that outputs need has an attribute or an input
// that there is not in its opset, or that is not read; or its opset is not
// known.  Nodes whose operator is not known pass: nothing is made of them.
void want_known(const Model& model);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_SCHEMA_H_
