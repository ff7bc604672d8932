// A model of ONNX as its reader (read.h) hands it back.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_MODEL_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/onnx/constant.h"
#include "libcore/io/mapping.h"

namespace dl::convert::onnx {

// Operators beside ONNX's own, and ours, which stand for several nodes.
inline constexpr char kMlDomain[] = "ai.onnx.ml";
inline constexpr char kOwnDomain[] = "dl-tools";

struct Body;

// One node.
struct Node {
  std::string name, op, domain;
  std::vector<std::string> in, out;  // "": left out
  Json attributes;
  std::int64_t opset = 0;            // of its domain
  std::shared_ptr<const Body> body;  // of a loop; or null

  // Throws Error: kData, the attribute is of another kind.
  bool has(const char* key) const { return attributes.contains(key); }
  std::int64_t integer(const char* key, std::int64_t fallback) const;
  double number(const char* key, double fallback) const;
  std::string text(const char* key, const std::string& fallback) const;
  Sizes integers(const char* key, const Sizes& fallback) const;
  std::vector<double> numbers(const char* key) const;  // [] if it is not there
  std::vector<std::string> texts(const char* key) const;
  // "node 'conv1' (Conv)"
  std::string called() const;
  const std::string& input(std::size_t i) const;  // "" if it has no such
};

// The body of a loop.  The values that it reads of the graph around it are the
// last inputs of the node.
struct Body {
  std::vector<std::string> inputs, outputs;
  std::vector<Node> nodes;
};

struct InputInfo {
  std::string name;
  int type = 1;  // numbers.h
  // Extents; -1: open.
  Sizes dims;
  std::vector<std::string> names;  // of open ones; or ""
};

struct Model {
  std::string producer;
  std::map<std::string, std::string> metadata;
  std::vector<InputInfo> inputs;
  std::vector<std::string> outputs;
  std::vector<Node> nodes;
  std::map<std::string, Constant> constants;
  std::map<std::string, std::vector<std::string>> texts;  // tensors of these
  std::int64_t numbers = 0;                               // of its tensors
  std::vector<std::string> beside;  // files of tensors outside, and
  std::vector<std::shared_ptr<const io::Mapping>> files;  // what they hold
};

// The nodes of which outputs are made, in their order.
std::vector<const Node*> needed(const Model& model);

// The most numbers that are made of a model's tensors: weights that are shared,
// turned or repeated, and no trap.
std::int64_t most_numbers(const Model& model);

// Number that a ConstantOfShape repeats; null: zeros, or it is another node.
// Throws Error: kData, there is no such number.
const Constant* repeated_value(const std::map<std::string, Constant>& constants,
                               const Node& node);

// The inputs of a node where all are constants (null: left out), and behind
// them the value that a ConstantOfShape repeats.
std::optional<std::vector<const Constant*>> constant_inputs(
    const std::map<std::string, Constant>& constants, const Node& node);

// spec: of the model's file, beside which tensors outside of it lie.
// Throws Error: kData, it is no graph, or tensors are not where it says.
Model model_of(const Archive& archive, const std::string& spec);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_MODEL_H_
