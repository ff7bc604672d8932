// Recognition of outputs that name classes.

#include "libcore/convert/import/onnx/labels.h"

#include <algorithm>
#include <map>

#include "libcore/base/display.h"

namespace dl::convert::onnx {
namespace {

// Nodes by the values that they make.
using Makers = std::map<std::string, const Node*>;

const Node* maker_of(const Makers& makers, const std::string& value) {
  const auto found = makers.find(value);
  return found == makers.end() ? nullptr : found->second;
}

using Names = std::vector<std::string>;

// Nothing: they are numbered from 0 on.
Names names_of(const Sizes& labels) {
  Names names;
  bool numbered = true;
  for (const std::int64_t label : labels) {
    numbered = numbered && label == std::ssize(names);
    names.push_back(std::to_string(label));
  }
  return numbered ? Names() : names;
}

// Texts, or whole numbers as such; nothing: the tensor has none of these.
Names names_in(const Model& model, const std::string& tensor) {
  if (const auto found = model.texts.find(tensor); found != model.texts.end())
    return found->second;
  const auto found = model.constants.find(tensor);
  if (found == model.constants.end() || !found->second.whole()) return {};
  return names_of(found->second.wholes());
}

// Where a value comes from that is the number or name of a class: of what picks
// the largest, or compares each with a threshold, by way of what looks its name
// up or changes its type or shape alone.
class Labels {
 public:
  Labels(const Model& model, const Makers& makers)
      : model_(model), makers_(makers) {}

  bool has(const std::string& value) { return follow(value, 0); }
  // The names of the classes.
  const Names& names() const { return names_; }
  // Whether an example may have several labels, by the last classifier.
  bool several() const { return several_; }

 private:
  bool follow(const std::string& value, int steps);

  const Model& model_;
  const Makers& makers_;
  Names names_;
  bool several_ = false;
};

bool Labels::follow(const std::string& value, int steps) {
  constexpr int kMostSteps = 16;
  constexpr std::string_view kPasses[] = {"Cast",        "Identity", "Reshape",
                                          "Squeeze",     "Flatten",  "Clip",
                                          "LabelEncoder"};
  const Node* node = maker_of(makers_, value);
  if (steps == kMostSteps || node == nullptr || node->in.empty()) return false;
  several_ = node->op == "Binarizer" || node->op == "Sign";
  if (several_ || node->op == "ArgMax") return true;
  if (node->op.ends_with("Classifier")) return node->out[0] == value;
  if (node->op == "Concat") {
    const bool all = std::ranges::all_of(node->in, [&](const std::string& one) {
      return follow(one, steps + 1);
    });
    several_ = true;
    return all;
  }
  if (node->op == "ArrayFeatureExtractor" && node->in.size() == 2) {
    if (!follow(node->in[1], steps + 1)) return false;  // which of in[0]
    names_ = names_in(model_, node->in[0]);
    return true;
  }
  return std::ranges::find(kPasses, node->op) != std::end(kPasses) &&
         follow(node->in[0], steps + 1);
}

// Class names of a classifier, or of the list of its probabilities; nothing:
// their numbers, or it does not say.
Names class_names(const Node& node) {
  for (const char* key :
       {"classlabels_strings", "classlabels_int64s", "classlabels_ints"}) {
    if (!node.has(key)) continue;
    if (std::string_view(key).ends_with("strings")) return node.texts(key);
    return names_of(node.integers(key, {}));
  }
  if (node.op == "LabelEncoder" && node.has("keys_int64s") &&
      node.has("values_strings") &&
      names_of(node.integers("keys_int64s", {})).empty())
    return node.texts("values_strings");
  return {};
}

}  // namespace

std::vector<std::string> drop_labels(Model& model) {
  Makers makers;
  for (const Node& node : model.nodes)
    for (const std::string& out : node.out) makers.emplace(out, &node);
  // Lists are what they are made of.
  Names outputs;
  for (const std::string& output : model.outputs) {
    const Node* node = maker_of(makers, output);
    if (node != nullptr && (node->op == "SequenceConstruct" ||
                            (node->op == "ZipMap" && node->in.size() == 1)))
      outputs.insert(outputs.end(), node->in.begin(), node->in.end());
    else
      outputs.push_back(output);
  }
  Names kept, notes;
  Labels labels(model, makers);
  for (const std::string& output : outputs)
    if (labels.has(output))
      notes.push_back("its output " + in_quotes(output) +
                      (labels.several()
                           ? ", the labels, is left out: they are those whose "
                             "numbers are above a threshold"
                           : ", the class, is left out: dl-infer(1) says it"));
    else
      kept.push_back(output);
  if (kept.empty()) return {};
  model.outputs = std::move(kept);
  if (model.outputs.size() > 1) return notes;
  for (const Node& node : model.nodes)
    if (const Names names = class_names(node); !names.empty())
      model.metadata.emplace("classes", Json(names).dump());
  if (!labels.names().empty())
    model.metadata.emplace("classes", Json(labels.names()).dump());
  return notes;
}

}  // namespace dl::convert::onnx
