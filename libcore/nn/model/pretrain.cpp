// Stages of layer-wise pretraining.

#include "libcore/nn/model/pretrain.h"

#include <algorithm>
#include <map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/model/transfer.h"

namespace dl::nn {
namespace {

// Puts the document together.
class Stage {
 public:
  Stage(const NetworkConfig& whole, std::size_t layer);
  Json document();

 private:
  void need(Value v);
  void add_before(std::size_t layer);
  void add_own();
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error{Code::kConfig, "pretraining of '" +
                                   displayed(whole_.layers[layer_].name) +
                                   "': " + what};
  }

  const NetworkConfig& whole_;
  std::size_t layer_;
  Json resolved_;                       // layers or nodes, as whole_.layers
  std::vector<bool> needed_;            // by value
  std::map<Value, std::string> names_;  // of values, in the document
  Json nodes_ = Json::array();
};

Stage::Stage(const NetworkConfig& whole, std::size_t layer)
    : whole_(whole), layer_(layer) {
  const Json all = to_json(whole);
  resolved_ = all[whole.is_graph() ? "nodes" : "layers"];
  std::string input = whole.is_graph() ? whole.inputs[0].name : "features";
  while (std::ranges::count(whole.layers, input, &LayerConfig::name) > 0)
    input += "_";
  names_[0] = input;
  needed_.resize(whole.value_of(whole.layers.size()));
}

void Stage::need(Value v) {
  if (needed_[v]) return;
  needed_[v] = true;
  if (v < whole_.inputs.size()) return;
  for (const Value from : whole_.layers[v - whole_.inputs.size()].from)
    need(from);
}

// Layers that only disturb in training are skipped.
void Stage::add_before(std::size_t layer) {
  const LayerConfig& config = whole_.layers[layer];
  std::string& name = names_[whole_.value_of(layer)];
  if (config.type->disturbs) {
    name = names_.at(config.from[0]);
    return;
  }
  name = config.name;
  for (const auto& owner : {config.shares, config.tied_to})
    if (owner && !needed_[whole_.value_of(*owner)])
      refuse("'" + displayed(name) + "' before it has parameters of '" +
             whole_.layers[*owner].name + "', which is not");
  Json node = resolved_[layer];
  node["from"] = Json::array();
  for (const Value v : config.from) node["from"].push_back(names_.at(v));
  if (config.type->trains != Trains::kNothing && !config.shares)
    node["frozen"] = true;
  nodes_.push_back(std::move(node));
}

void Stage::add_own() {
  const LayerConfig& config = whole_.layers[layer_];
  const std::string input = names_.at(config.from[0]);
  const ValueSpec form = layout_of(whole_).form(config.from[0]);
  auto own = config.type->pretraining(resolved_[layer_], form.shape.elements());
  own.front()["from"] = input;
  own.back()["target"] = input;
  for (Json& node : own) nodes_.push_back(std::move(node));
}

Json Stage::document() {
  const LayerConfig& config = whole_.layers[layer_];
  if (config.each_step) refuse("it takes each step of a sequence by itself");
  need(config.from[0]);
  for (std::size_t i = 0; i < layer_; ++i)
    if (needed_[whole_.value_of(i)]) add_before(i);
  add_own();
  Json shape = Json::array();
  for (const std::int64_t extent : whole_.inputs[0].shape.extents())
    shape.push_back(extent);
  Json document{{"seed", whole_.seed},
                {"inputs", {{{"name", names_.at(0)}, {"shape", shape}}}},
                {"nodes", nodes_},
                {"outputs", {nodes_.back().at("name")}}};
  for (const AugmentConfig& step : whole_.augment)
    document["augment"].push_back(step.settings.json());
  return document;
}

// Copies a layer's parts of the flat vectors from another model.
void copy_layer(const Layout& layout, const std::string& layer,
                const Model& from, Model& to) {
  const auto copy = [&](const std::vector<Segment>& segments,
                        const std::vector<float>& its,
                        std::vector<float>& own) {
    for (const Segment& s : segments)
      if (to.config.layers[s.layer].name == layer)
        std::copy_n(its.begin() + s.offset, s.elements(),
                    own.begin() + s.offset);
  };
  copy(layout.parameters, from.parameters, to.parameters);
  copy(layout.statistics, from.statistics, to.statistics);
}

}  // namespace

std::vector<std::string> pretrained_layers(const NetworkConfig& network) {
  std::vector<std::string> names;
  for (const LayerConfig& layer : network.layers)
    if (layer.type->pretraining != nullptr && !layer.shares)
      names.push_back(layer.name);
  if (names.empty())
    throw Error{Code::kConfig,
                "the network has no layer that can learn by itself; want one "
                "of type autoencoder"};
  if (network.inputs.size() > 1)
    throw Error{Code::kConfig,
                "pretraining is for networks of one input, this one has " +
                    std::to_string(network.inputs.size())};
  return names;
}

std::string pretraining_network(const NetworkConfig& network,
                                const std::string& layer) {
  const auto own = std::ranges::find(network.layers, layer, &LayerConfig::name);
  require(own != network.layers.end(), "a layer that is not there");
  return dump_json(
      Stage(network, static_cast<std::size_t>(own - network.layers.begin()))
          .document());
}

Model pretrained(const NetworkConfig& network, std::span<const Model> stages,
                 std::span<const std::string> layers) {
  const Layout layout = layout_of(network);
  Model whole;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Model learnt = start_from(stages[i], network, {}).model;
    if (i == 0)
      whole = std::move(learnt);
    else
      copy_layer(layout, layers[i], learnt, whole);
  }
  whole.normalizers.inputs = stages[0].normalizers.inputs;
  return whole;
}

}  // namespace dl::nn
