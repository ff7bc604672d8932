// Operators of ai.onnx.ml, a domain beside ONNX's own.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_ML_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_ML_H_

#include <vector>

#include "libcore/convert/import/onnx/site.h"

namespace dl::convert::onnx {

std::vector<Operator> ml_operators();

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_ML_H_
