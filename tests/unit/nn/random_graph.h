// Networks of random shape, by seed: every type of layers that takes what there
// is, joined at random.

#ifndef DL_TESTS_UNIT_NN_RANDOM_GRAPH_H_
#define DL_TESTS_UNIT_NN_RANDOM_GRAPH_H_

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"
#include "libcore/nn/config/layer_type.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::testing {

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed)
      : random_(seed, 77), aims_(seed, 78), ties_(seed, 79) {}

  NetworkConfig make() {
    const std::size_t inputs = 1 + below(3);
    for (std::size_t i = 0; i < inputs; ++i) add_input();
    const std::size_t wanted = 5 + below(6);
    for (int tries = 0; nodes_.size() < wanted && tries < 500; ++tries)
      try_node();
    join_rest();
    const Json document{{"seed", below(1000)},
                        {"inputs", inputs_},
                        {"nodes", nodes_},
                        {"outputs", outputs_}};
    return parse_network(document.dump(), "random");
  }

 private:
  struct Named {
    std::string name;
    ValueSpec form;
    bool used = false;
  };

  std::size_t below(std::size_t n) { return random_.below(n); }

  void add_tokens() {
    const std::string name = "in" + std::to_string(inputs_.size());
    inputs_.push_back({{"name", name}, {"shape", {4}}});
    values_.push_back({name, {.shape = {4}, .steps = true, .tokens = true}});
    add(layer_type("embedding"),
        {{"type", "embedding"},
         {"name", "n" + std::to_string(nodes_.size())},
         {"rows", 3},
         {"units", 2},
         {"mask_zero", below(2) == 0}},
        {values_.size() - 1});
  }

  void add_input() {
    static const std::vector<std::vector<std::int64_t>> kShapes{
        {4}, {3}, {4, 4, 2}, {5, 3}, {2, 3, 2, 2}};
    if (below(8) == 0) return add_tokens();
    const auto& shape = kShapes[below(kShapes.size())];
    const std::string name = "in" + std::to_string(inputs_.size());
    inputs_.push_back({{"name", name}, {"shape", shape}});
    values_.push_back(
        {name,
         {Shape(std::span<const std::int64_t>(shape)), shape.size() == 2}});
    // Only a network with recurrent layers has sequences.
    if (shape.size() == 2)
      add(layer_type("simple_rnn"),
          {{"type", "simple_rnn"},
           {"name", "n" + std::to_string(nodes_.size())},
           {"units", 2},
           {"return_sequences", true}},
          {values_.size() - 1});
  }

  // A value for a key that must be given, and sometimes for others.
  Json value_of(const Key& key) {
    switch (key.kind) {
      case Kind::kInteger:
        return 2 + below(2);
      case Kind::kNumber:
        return 0.5;
      case Kind::kBoolean:
        return below(2) == 0;
      case Kind::kShape:
        return shape_for(key.name == "axes");
      case Kind::kTuple: {
        Json value = Json::array();
        for (std::size_t i = 0; i < key.places(); ++i)
          value.push_back(1 + below(2));
        return value;
      }
      case Kind::kOneOf:
        // Other gates let the state grow without bounds.
        if (key.name == "gate_activation")
          return below(2) == 0 ? "sigmoid" : "tanh";
        return key.values[below(key.values.size())];
      case Kind::kTagOrObject:
        if (key.name == "activation") return "tanh";
        return tag_of(key.of)->values.front();
      default:
        return nullptr;
    }
  }

  // Shape with a permutation, or with the numbers that some value has.
  Json shape_for(bool axes) {
    static const std::vector<Json> kOrders{
        {1, 0}, {0, 1}, {2, 0, 1}, {1, 0, 2}};
    if (axes) return kOrders[below(kOrders.size())];
    const ValueSpec& form = values_[below(values_.size())].form;
    const std::int64_t n = form.shape.elements();
    if (below(2) == 0 || n % 2 != 0) return Json::array({n});
    return {n / 2, 2};
  }

  void try_node() {
    const auto types = layer_types();
    const LayerType& type = *types[below(types.size())];
    if (type.output != nullptr) return;
    Json node{{"type", type.name},
              {"name", "n" + std::to_string(nodes_.size())}};
    for (const Key& key : type.keys) {
      const bool free = key.kind == Kind::kBoolean ||
                        key.kind == Kind::kOneOf || key.name == "groups";
      // A small one bends more than a finite difference can see.
      const bool always = key.required() || key.name == "epsilon";
      if (!always && !(free && below(2) == 0)) continue;
      const Json value = value_of(key);
      if (!value.is_null()) node[std::string(key.name)] = value;
    }
    const std::size_t most = std::min<std::size_t>(type.inputs.most, 3);
    const std::size_t count =
        type.inputs.least + below(most - type.inputs.least + 1);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i)
      chosen.push_back(below(values_.size()));
    add(type, node, chosen);
  }

  void add(const LayerType& type, Json node,
           const std::vector<std::size_t>& chosen) {
    std::vector<ValueSpec> forms;
    for (const std::size_t i : chosen) {
      forms.push_back(values_[i].form);
      if (forms.back().tokens && type.tokens == nullptr) return;
    }
    LayerSettings settings(node, "layer");
    ValueSpec output;
    try {
      if (type.complete) type.complete(settings);
      output = type.infer(settings, forms).output;
    } catch (const Error& e) {
      if (e.code() != Code::kConfig) throw;
      return;  // it does not take these
    }
    if (output.shape.elements() > 150) return;
    for (const std::size_t i : chosen) {
      node["from"].push_back(values_[i].name);
      values_[i].used = true;
    }
    values_.push_back({node["name"].get<std::string>(), output});
    nodes_.push_back(std::move(node));
  }

  // Back through the weight of a dense layer, and on through that layer again.
  std::string add_tied(const Named& value, const std::string& name) {
    nodes_.push_back({{"type", "dense"},
                      {"name", name + "t"},
                      {"units", value.form.shape.elements()},
                      {"activation", "tanh"},
                      {"tied_to", name + "d"},
                      {"from", name + "d"}});
    nodes_.push_back({{"type", "dense"},
                      {"name", name + "s"},
                      {"shares", name + "d"},
                      {"from", name + "t"}});
    return name + "s";
  }

  // Joins values that nobody reads through dense layers to one or two outputs.
  void join_rest() {
    Json rest = Json::array();
    for (const Named& value : std::vector<Named>(values_)) {
      if (value.used) continue;
      std::string name = value.name;
      if (value.form.copies > 1) {
        nodes_.push_back(
            {{"type", "unstack"},
             {"name", name + "u"},
             {"index", below(static_cast<std::size_t>(value.form.copies))},
             {"from", name}});
        name += "u";
      }
      nodes_.push_back(
          {{"type", "flatten"}, {"name", name + "f"}, {"from", name}});
      nodes_.push_back({{"type", "dense"},
                        {"name", name + "d"},
                        {"units", 3},
                        {"activation", "tanh"},
                        {"from", name + "f"}});
      rest.push_back(name + "d");
      if (ties_.below(3) == 0) rest.back() = add_tied(value, name);
    }
    std::string last = rest[0].get<std::string>();
    if (rest.size() > 1) {
      last = "rest";
      nodes_.push_back({{"type", below(2) == 0 ? "merge" : "add"},
                        {"name", last},
                        {"from", rest}});
    }
    const std::size_t outputs = 1 + below(2);
    static const char* const kLosses[] = {"negative_log_likelihood",
                                          "mean_squared_error"};
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::string name = "out" + std::to_string(i);
      nodes_.push_back({{"type", "output"},
                        {"name", name},
                        {"units", 2},
                        {"loss", kLosses[below(2)]},
                        {"from", last}});
      // Some are to be what went in.
      const Named& aim = *std::ranges::find(
          values_, "in" + std::to_string(aims_.below(inputs_.size())),
          &Named::name);
      if (aims_.below(3) == 0 && !aim.form.tokens && !aim.form.steps) {
        nodes_.back()["target"] = aim.name;
        nodes_.back()["units"] = aim.form.shape.elements();
        nodes_.back()["loss"] = "mean_squared_error";
      }
      outputs_.push_back(name);
      // The next one also reads this one, which is then no loss's alone.
      if (below(2) == 0) last = name;
    }
  }

  Philox random_, aims_, ties_;
  Json inputs_ = Json::array(), nodes_ = Json::array(),
       outputs_ = Json::array();
  std::vector<Named> values_;
};

}  // namespace dl::nn::testing

#endif  // DL_TESTS_UNIT_NN_RANDOM_GRAPH_H_
