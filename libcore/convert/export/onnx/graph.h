// A graph of ONNX in the making: nodes, constants and weights by name.
//
// Names of what nodes give begin with the scope, which is the layer's name, so
// that viewers show what came of which layer.

#ifndef DL_LIBCORE_CONVERT_EXPORT_ONNX_GRAPH_H_
#define DL_LIBCORE_CONVERT_EXPORT_ONNX_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/tensor/shape.h"

namespace dl::convert {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using OnnxAttribute = std::variant<std::int64_t, double, std::string, Ints,
                                   Reals, std::vector<std::string>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

enum class OnnxType { kFloat, kInt32, kInt64 };

// The opset of what is written: the first with LayerNormalization.
constexpr int kOnnxOpset = 17;

class OnnxGraph {
 public:
  OnnxGraph();
  ~OnnxGraph();
  OnnxGraph(const OnnxGraph&) = delete;
  OnnxGraph& operator=(const OnnxGraph&) = delete;

  void set_scope(const std::string& name) { scope_ = name; }

  // [batch, ...shape]; returns the name.
  std::string input(const std::string& name, OnnxType type,
                    const tensor::Shape& shape);
  void output(const std::string& name, const std::string& value,
              const tensor::Shape& shape);
  void metadata(const std::string& key, const std::string& value);

  // Inputs that are "" are left out.  Returns what it gives, the first output.
  std::string node(const std::string& type,
                   const std::vector<std::string>& inputs,
                   const OnnxAttributes& attributes = {});
  std::vector<std::string> node_of(const std::string& type,
                                   const std::vector<std::string>& inputs,
                                   const OnnxAttributes& attributes,
                                   int outputs);

  // A tensor of this name, which is made where it is not there yet.
  std::string weight(const std::string& name, const Ints& shape,
                     const std::vector<float>& values);
  // Constants; equal ones are one.
  std::string ints(const Ints& values);
  std::string integer(std::int64_t value);
  std::string reals(const Reals& values, const Ints& shape);
  std::string real(double value) { return reals({value}, {}); }

  // Nodes that are wanted often.
  std::string reshape(const std::string& x, const Ints& shape) {
    return node("Reshape", {x, ints(shape)});
  }
  std::string transpose(const std::string& x, const Ints& order) {
    return node("Transpose", {x}, {{"perm", order}});
  }
  std::string cast(const std::string& x, OnnxType type);
  // type: "ReduceSum" and its like.
  std::string reduce(const std::string& type, const std::string& x,
                     const Ints& axes, bool keep);
  std::string slice(const std::string& x, std::int64_t axis, std::int64_t begin,
                    std::int64_t end, std::int64_t step = 1);

  // The model's bytes, when ONNX's checker and shape inference have nothing
  // against it.  version: of this program.
  // Throws Error: kData, it is larger than protobuf messages can be; kBug, what
  // the checker says.
  std::string finish(const std::string& version);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string scope_;
};

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_ONNX_GRAPH_H_
