// Translation of older operators to newer ones.

#include "libcore/convert/import/onnx/older.h"

#include <map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/convert/import/onnx/numbers.h"

namespace dl::convert::onnx {

std::int64_t concat_axis(const Node& node) {
  return node.integer("axis", node.opset < 4 ? 1 : 0);
}

bool joins_axes(const Node& node) { return node.opset < 13; }

std::optional<std::size_t> softmax_axis(const Node& node, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  std::int64_t axis = node.integer("axis", joins_axes(node) ? 1 : -1);
  if (axis < 0) axis += r;
  if (axis < 0 || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

int cast_type(const Node& node) {
  if (node.opset >= 6 || !node.has("to"))
    return static_cast<int>(node.integer("to", 0));
  static const std::map<std::string, ElementType> names = {
      {"FLOAT", ElementType::kFloat},   {"UINT8", ElementType::kUint8},
      {"INT8", ElementType::kInt8},     {"UINT16", ElementType::kUint16},
      {"INT16", ElementType::kInt16},   {"INT32", ElementType::kInt32},
      {"INT64", ElementType::kInt64},   {"BOOL", ElementType::kBool},
      {"FLOAT16", ElementType::kHalf},  {"DOUBLE", ElementType::kDouble},
      {"UINT32", ElementType::kUint32}, {"UINT64", ElementType::kUint64}};
  const auto found = names.find(node.text("to", ""));
  return found == names.end() ? 0 : static_cast<int>(found->second);
}

std::size_t axes_behind(const Node& node, std::size_t first,
                        std::size_t second) {
  if (node.opset > 6 || !node.has("axis")) return 0;
  const auto rank = static_cast<std::int64_t>(first),
             own = static_cast<std::int64_t>(second);
  std::int64_t axis = node.integer("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + own > rank)
    bad_data(node.called() + ": its axis " + std::to_string(axis) +
             " leaves no room for the axes of its second input");
  return static_cast<std::size_t>(rank - own - axis);
}

}  // namespace dl::convert::onnx
