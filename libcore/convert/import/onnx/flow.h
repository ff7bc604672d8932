// A value of ONNX's, as one of ours seen otherwise.
//
// ONNX has channels first, moves axes about, and makes one of several; here
// channels are last, and the batch is no axis.  So each axis of ONNX's is a
// list of axes of ours, outermost first, among them the batch: a transpose, a
// squeeze or a flatten changes these lists alone, and becomes layers only where
// somebody needs the numbers in another order.  [n, c, h, w] of an image
// [h, w, c] is {batch} {2} {0} {1}, and flattened {batch} {2 0 1}.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_FLOW_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_FLOW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/onnx/constant.h"

namespace dl::convert::onnx {

inline constexpr int kBatch = -1;
using Axis = std::vector<int>;  // empty: an axis of 1 that there is not here

// A product with weights whose result a value is, for attention, which has
// these within it.
struct Linear {
  Value source;            // [steps, inputs]
  std::int64_t units = 0;  // of the product
  Fill weight, bias;       // [units, inputs], [units]; bias may be none
  // Unit of each number of a step of the value.
  std::vector<std::int64_t> rows;
  double factor = 1;
};

struct Attention;

struct Flow : Value {
  std::vector<Axis> axes;
  bool positive = false;  // no number is below 0
  std::shared_ptr<const Linear> linear;
  // Part of an attention that is no layer yet: node is "", and the shape is
  // that which it would have.
  std::shared_ptr<const Attention> attention;
};

// Progress of an attention that is recognized node by node: scores [heads,
// queries, keys], then their softmax, then values mixed by these [queries,
// heads, size].
struct Attention {
  enum class Stage { kScores, kWeights, kMixed };
  // A projection, or a value itself: number i of a step is head * size + place.
  struct Side {
    Value source;
    std::shared_ptr<const Linear> linear;  // or null
    std::vector<std::int64_t> rows;
  };
  Stage stage = Stage::kScores;
  Side query, key, value;
  std::int64_t heads = 1, size = 1;
  double scale = 1;
  bool causal = false;
};

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_FLOW_H_
