// The document of dl-network(5) from nodes: which of them are outputs, and
// their losses.

#include <algorithm>
#include <cctype>

#include "libcore/convert/import/graph.h"

namespace dl::convert {
namespace {

std::string activation_of(const Json& node) {
  const auto found = node.find("activation");
  if (found == node.end()) return "identity";
  return found->is_string() ? found->get<std::string>()
                            : found->value("type", "identity");
}

// Type of a loss or a node.
std::string type_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.value("type", "");
}

bool ends_in_activation(const std::string& type) {
  return type == "activation" || nn::layer_type(type).activates;
}

// Some losses are computed together with one activation, and with no other.
bool go_together(const Json& loss, const std::string& activation) {
  const std::string type = type_of(loss);
  if (type == "negative_log_likelihood" || type == "focal")
    return activation == "softmax";
  if (type == "binary_cross_entropy" || type == "binary_focal")
    return activation == "sigmoid";
  return true;
}

Json usual_loss(const std::string& activation) {
  if (activation == "softmax") return "negative_log_likelihood";
  if (activation == "sigmoid") return "binary_cross_entropy";
  return "mean_squared_error";
}

// One that says nothing of what goes in: "input_1", "dense_input", "features",
// which dl-export calls inputs without a name.
bool is_usual_name(const std::string& input) {
  std::string small;
  for (const char c : input)
    small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small == "features" || small == "x" || small == "data" ||
         small.find("input") != std::string::npos;
}

}  // namespace

Json Graph::loss_keys(const Value& output, const Aim& aim,
                      const std::string& activation) {
  Json keys = aim.keys;
  if (aim.loss_weight != 1) keys["loss_weight"] = aim.loss_weight;
  keys["loss"] = aim.loss;
  if (aim.loss.is_null()) keys["loss"] = usual_loss(activation);
  const bool goes = go_together(keys["loss"], activation);
  // The activation is applied already, whatever the other program says.
  if (goes) keys.erase("from_logits");
  if (goes || keys.contains("from_logits")) return keys;
  with_other_loss_.push_back(output.node);
  keys["loss"] = usual_loss(activation);
  keys.erase("label_smoothing");
  keys.erase("class_weights");
  return keys;
}

// Only what nobody else reads may become an output, or give its activation to
// one.
std::string Graph::finish(const Value& output, const Aim& aim) {
  Node* node = find(output.node);
  // It has a loss already.
  if (node != nullptr && node->readers == 1 &&
      nn::layer_type(node->json["type"].get<std::string>()).output != nullptr)
    return output.node;
  bool own = node != nullptr && node->readers == 1 && !node->shared &&
             node->shares.empty() &&
             !node->json.value("time_distributed", false) &&
             ends_in_activation(type_of(node->json));
  const std::string activation =
      own ? activation_of(node->json) : std::string("identity");
  Json keys = loss_keys(output, aim, activation);
  // Logits are behind any other activation.
  if (own && keys.contains("from_logits") && activation != "identity")
    own = false;
  const Json own_activation = own && node->json.contains("activation")
                                  ? node->json["activation"]
                                  : Json("identity");
  keys["activation"] = own_activation;
  if (own && node->json["type"] == "dense") {
    node->json["type"] = "output";
    node->json.update(keys);
    return output.node;
  }
  keys["type"] = "loss";
  keys["units"] = output.shape().back();
  if (own && node->json["type"] == "activation") {
    node->json.erase("activation");
    node->json.update(keys);
    return output.node;
  }
  if (own) node->json.erase("activation");
  keys["name"] = fresh_name(output.node + ".loss");
  return add(keys, {output}).node;
}

bool Graph::is_chain() const {
  if (inputs_.size() != 1 || outputs_.size() != 1) return false;
  std::string before = inputs_[0]["name"];
  for (const Node& node : nodes_) {
    if (node.from.size() != 1 || node.from[0] != before || !node.shares.empty())
      return false;
    before = node.json["name"];
  }
  return before == outputs_[0];
}

Json Graph::document(const std::vector<Value>& outputs,
                     const std::vector<Aim>& aims, bool names_input) {
  outputs_.clear();
  for (const Value& output : outputs) read(output.node);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs_.push_back(finish(outputs[i], aims[i]));
  Json document;
  const bool chain =
      is_chain() && !(names_input && !is_usual_name(inputs_[0]["name"]));
  Json nodes = Json::array();
  for (const Node& node : nodes_) {
    Json json = node.json;
    if (!node.shares.empty()) {
      json = {{"type", node.json["type"]},
              {"name", node.json["name"]},
              {"shares", node.shares}};
      if (node.json.value("time_distributed", false))
        json["time_distributed"] = true;
    }
    if (!chain) json["from"] = node.from;
    if (chain && json.contains("target")) json["target"] = "features";
    nodes.push_back(std::move(json));
  }
  if (chain) {
    document["input"]["shape"] = inputs_[0]["shape"];
    document["layers"] = std::move(nodes);
    return document;
  }
  document["inputs"] = inputs_;
  document["nodes"] = std::move(nodes);
  document["outputs"] = outputs_;
  return document;
}

}  // namespace dl::convert
