// A model of ONNX as a network here.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_MAKE_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_MAKE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/onnx/model.h"
#include "libcore/tensor/shape.h"

namespace dl::convert::onnx {

struct Result {
  Json document;                      // dl-network(5)
  std::map<std::string, Fill> fills;  // by tensor, "dense/weight"
  std::set<std::string> notes;        // what was left out or is different
  std::vector<Port> inputs, outputs;
};

// targets: by output the input that it is to be.
// shapes: extents of inputs that the model leaves open, without the batch, as
// ONNX counts them; "" of its only one.  The model outlives the fills.
// Throws Error: kData, "node 'x' (NonZero): ..."; kUsage, a shape is of no
// input, or an extent is open that none gives.
Result make_network(const Model& model,
                    const std::map<std::string, tensor::Shape>& shapes,
                    const std::map<std::string, std::string>& targets = {});

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_MAKE_H_
