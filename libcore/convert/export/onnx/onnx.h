// A model as a file of ONNX.

#ifndef DL_LIBCORE_CONVERT_EXPORT_ONNX_ONNX_H_
#define DL_LIBCORE_CONVERT_EXPORT_ONNX_ONNX_H_

#include <optional>
#include <string>

#include "libcore/nn/model/model.h"

namespace dl::convert {

struct OnnxOptions {
  std::string version = {};  // of this program, which the file names
  // Whether inputs that are sequences have a mask beside them; where that is
  // not said, those have one whose training data had.
  std::optional<bool> masks = {};
};

// The bytes of a ModelProto that ONNX's checker has nothing against: inputs and
// outputs [batch, ...] in float32, token numbers in int64, masks [batch, steps]
// in float32 with 0 where a step is padding.  Inputs are as the data have them,
// outputs in the units of the labels: normalizers are nodes.
// Throws Error: kData, ONNX has no such layer, or the model is too large.
std::string to_onnx(const nn::Model& model, const OnnxOptions& options);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_ONNX_ONNX_H_
