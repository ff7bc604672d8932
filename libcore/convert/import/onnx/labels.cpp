#include "libcore/convert/import/onnx/labels.h"

#include <algorithm>
#include <map>

#include "libcore/base/display.h"

namespace dl::convert::onnx {
namespace {

// What gives a value.
using Makers = std::map<std::string, const Node*>;

const Node* maker_of(const Makers& makers, const std::string& value) {
  const auto found = makers.find(value);
  return found == makers.end() ? nullptr : found->second;
}

// Whether it is the number or name of a class: of what picks the largest, by
// way of what looks its name up or changes its type alone.
bool is_label(const Makers& makers, std::string value) {
  constexpr int kMostSteps = 16;
  constexpr std::string_view kPasses[] = {
      "Cast", "Identity", "Reshape", "Squeeze", "Flatten", "LabelEncoder"};
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const Node* node = maker_of(makers, value);
    if (node == nullptr || node->in.empty()) return false;
    if (node->op == "ArgMax") return true;
    if (node->op.ends_with("Classifier")) return node->out[0] == value;
    if (node->op == "ArrayFeatureExtractor" && node->in.size() == 2)
      value = node->in[1];  // which of in[0]
    else if (std::ranges::find(kPasses, node->op) != std::end(kPasses))
      value = node->in[0];
    else
      return false;
  }
  return false;
}

// What a classifier, or the list of its probabilities, calls the classes;
// nothing: their numbers, or it does not say.
std::vector<std::string> class_names(const Node& node) {
  for (const char* key :
       {"classlabels_strings", "classlabels_int64s", "classlabels_ints"}) {
    if (!node.has(key)) continue;
    if (std::string_view(key).ends_with("strings")) return node.texts(key);
    std::vector<std::string> names;
    bool numbered = true;
    for (const std::int64_t label : node.integers(key, {})) {
      numbered = numbered && label == std::ssize(names);
      names.push_back(std::to_string(label));
    }
    return numbered ? std::vector<std::string>() : names;
  }
  return {};
}

}  // namespace

std::vector<std::string> drop_labels(Model& model) {
  Makers makers;
  for (const Node& node : model.nodes)
    for (const std::string& out : node.out) makers.emplace(out, &node);
  for (std::string& output : model.outputs)
    if (const Node* node = maker_of(makers, output);
        node != nullptr && node->op == "ZipMap" && node->in.size() == 1)
      output = node->in[0];
  std::vector<std::string> kept, notes;
  for (const std::string& output : model.outputs)
    if (is_label(makers, output))
      notes.push_back("its output " + in_quotes(output) +
                      ", the class, is left out: dl-infer(1) says it");
    else
      kept.push_back(output);
  if (kept.empty()) return {};
  model.outputs = std::move(kept);
  for (const Node& node : model.nodes)
    if (const auto names = class_names(node);
        !names.empty() && model.outputs.size() == 1)
      model.metadata.emplace("classes", Json(names).dump());
  return notes;
}

}  // namespace dl::convert::onnx
