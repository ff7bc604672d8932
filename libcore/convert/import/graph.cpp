// Building of a network node by node.

#include "libcore/convert/import/graph.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/names.h"
#include "libcore/nn/config/config_check.h"
#include "libcore/nn/config/settings.h"

namespace dl::convert {
namespace {

// As parse_network() would find it: one mistake is enough.
void check_node(const Json& node) {
  Json document;
  document["input"]["shape"] = {1};
  document["layers"] = Json::array({node});
  for (std::string problem : nn::check_document(document)) {
    constexpr std::string_view kPlace = "layers[0].";
    if (problem.starts_with(kPlace)) problem.erase(0, kPlace.size());
    bad_data("its " + problem);
  }
}

nn::LayerSettings settings_of(const Json& node, const nn::LayerType& type) {
  const nn::LayerSettings given(node, "layer");
  nn::LayerSettings settings;
  for (const nn::Key& key : type.keys)
    if (given.has(key.name)) settings.set(key.name, given.at(key.name));
  if (type.complete != nullptr) type.complete(settings);
  if (type.check != nullptr)
    type.check(settings, [](std::string_view key, const std::string& what) {
      bad_data("its " + std::string(key) + ": " + what);
    });
  return settings;
}

// Output of a node, as layout_of() has it.
nn::ValueSpec planned(const Json& node, const nn::LayerType& type,
                      std::vector<nn::ValueSpec> inputs) {
  const bool each = node.value("time_distributed", false);
  std::int64_t steps = 0;
  if (each) {
    steps = inputs[0].shape[0];
    inputs[0].shape = inputs[0].shape.without_first();
    inputs[0].steps = false;
  }
  try {
    nn::ValueSpec form = type.infer(settings_of(node, type), inputs).output;
    if (!each) return form;
    return {form.shape.with_first(steps), true, form.copies};
  } catch (const Error& e) {
    bad_data(e.what());
  }
}

}  // namespace

Value Graph::input(const std::string& name, const tensor::Shape& shape,
                   bool tokens) {
  const std::string own = fresh_name(name);
  const auto extents = shape.extents();
  inputs_.push_back(
      {{"name", own},
       {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}});
  input_names_.insert(own);
  nn::ValueSpec form{.shape = shape, .tokens = tokens};
  form.steps = each_step_.count(own) > 0 ||
               (tokens ? shape.rank() == 1 : sequences_ && shape.rank() == 2);
  return {own, form};
}

std::string Graph::fresh_name(const std::string& wanted) const {
  std::string name;
  for (const char c : wanted.substr(0, 180))
    name += is_plain_name(std::string(1, c)) ? c : '_';
  if (name.empty()) name = "layer";
  const auto taken = [&](const std::string& one) {
    return by_name_.count(one) > 0 || input_names_.count(one) > 0 ||
           one == "updater" || one == "training" || one == "labels";
  };
  if (!taken(name)) return name;
  for (int& number = next_number_.try_emplace(name, 2).first->second;;
       ++number) {
    const std::string numbered = name + "_" + std::to_string(number);
    if (!taken(numbered)) return numbered;
  }
}

Graph::Node* Graph::find(const std::string& name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[found->second];
}

void Graph::read(const std::string& name) {
  if (Node* node = find(name)) ++node->readers;
}

Value Graph::add(Json node, const std::vector<Value>& from,
                 const std::string& shares) {
  if (nodes_.size() >= kMaxNodes)
    bad_data("the network has more than the " + std::to_string(kMaxNodes) +
             " layers that are imported, those of models within it counted for "
             "each call");
  check_node(node);
  const nn::LayerType& type = nn::layer_type(node["type"].get<std::string>());
  if (from.size() < type.inputs.least || from.size() > type.inputs.most)
    bad_data("it has " + std::to_string(from.size()) + " inputs");
  std::vector<nn::ValueSpec> forms;
  Node added;
  const bool each = node.value("time_distributed", false);
  for (const Value& value : from) {
    nn::ValueSpec form = value.form;
    if (each && !find(value.node)) found_each_step_.insert(value.node);
    if (each && form.shape.rank() < 2)
      bad_data("it takes each step of what is no sequence");
    if (form.tokens && type.tokens == nullptr)
      bad_data("it computes with the token numbers of the input '" +
               value.node + "', which an embedding reads");
    if (!form.tokens && type.tokens != nullptr)
      bad_data("its input has to be an input of the network");
    forms.push_back(form);
    added.from.push_back(value.node);
  }
  reads_sequences_ |= type.recurrent || type.reads_sequences;
  const nn::ValueSpec form = planned(node, type, forms);
  for (const Value& value : from) read(value.node);
  const std::string name = node["name"];
  if (Node* owner = find(shares)) owner->shared = true;
  added.json = std::move(node);
  added.shares = shares;
  by_name_[name] = nodes_.size();
  nodes_.push_back(std::move(added));
  return {name, form};
}

void Graph::drop_unread(const std::vector<Value>& outputs) {
  std::set<std::string> wanted;
  for (const Value& output : outputs) wanted.insert(output.node);
  std::vector<Node> kept;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (wanted.count(node->json["name"].get<std::string>()) == 0) continue;
    wanted.insert(node->from.begin(), node->from.end());
    if (!node->shares.empty()) wanted.insert(node->shares);
    node->readers = 0;
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  nodes_ = std::move(kept);
  by_name_.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    by_name_[nodes_[i].json["name"]] = i;
  for (const Node& node : nodes_)
    for (const std::string& from : node.from) read(from);
}

bool Graph::trains() const {
  return std::ranges::any_of(nodes_, [](const Node& node) {
    return nn::layer_type(node.json["type"].get<std::string>()).trains !=
               nn::Trains::kNothing &&
           !node.json.value("frozen", false);
  });
}

}  // namespace dl::convert
