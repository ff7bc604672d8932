// Connection of layers by name, and their topological order.

#include "libcore/nn/config/connect.h"

#include <algorithm>
#include <map>
#include <set>

#include "libcore/base/names.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Connector {
 public:
  Connector(NetworkConfig& config, const std::vector<Links>& links)
      : config_(config), links_(links), from_(links.size()) {}

  std::vector<std::string> run(const std::vector<std::string>& outputs);

 private:
  void name_values();
  void resolve(std::size_t node);
  std::size_t owner_named(const std::string& name, std::size_t node,
                          const char* key);
  void resolve_tied(std::size_t node);
  void resolve_shared(std::size_t node);
  void resolve_target(std::size_t node);
  void find_outputs(const std::vector<std::string>& outputs);
  void check_sequence();
  void mark(std::vector<Value> open, std::vector<bool>& used) const;
  void check_used();
  std::vector<std::size_t> sorted();
  void tell_cycle(const std::vector<bool>& done);
  void reorder(const std::vector<std::size_t>& order);

  // The nodes that must come before this one.
  std::vector<std::size_t> before(std::size_t node) const;
  Value value_named(const std::string& name, const std::string& place);
  std::string of(std::size_t node, const char* key) const {
    return config_.layers[node].place + "." + key;
  }
  void add(const std::string& place, const std::string& what) {
    problems_.push_back(place + ": " + what);
  }

  NetworkConfig& config_;
  const std::vector<Links>& links_;
  std::map<std::string, Value> values_;
  std::vector<std::vector<Value>> from_;  // by node, in the document's order
  std::vector<std::string> problems_;
};

void Connector::name_values() {
  const auto place = [&](Value v) {
    const std::size_t inputs = config_.inputs.size();
    return v < inputs ? "inputs[" + std::to_string(v) + "]"
                      : config_.layers[v - inputs].place;
  };
  const auto enter = [&](const std::string& name, Value value) {
    const auto [first, fresh] = values_.emplace(name, value);
    if (!fresh)
      add(place(value) + ".name",
          "'" + name + "' is the name of " + place(first->second) + " already");
  };
  for (std::size_t i = 0; i < config_.inputs.size(); ++i)
    if (config_.is_graph()) enter(config_.inputs[i].name, i);
  for (std::size_t i = 0; i < config_.layers.size(); ++i)
    enter(config_.layers[i].name, config_.value_of(i));
}

Value Connector::value_named(const std::string& name,
                             const std::string& place) {
  const auto it = values_.find(name);
  if (it != values_.end()) return it->second;
  std::vector<std::string> known;
  known.reserve(values_.size());
  for (const auto& [other, value] : values_) known.push_back(other);
  const std::string near = nearest(name, known);
  add(place, "no input or node is called '" + name + "'" +
                 (near.empty() ? "" : "; did you mean '" + near + "'?"));
  return kNone;
}

void Connector::resolve(std::size_t node) {
  const LayerConfig& layer = config_.layers[node];
  std::vector<Value>& from = from_[node];
  for (const std::string& name : links_[node].from) {
    const Value value = value_named(name, of(node, "from"));
    if (value != kNone) from.push_back(value);
  }
  if (links_[node].from.empty())
    from = {node == 0 ? 0 : config_.value_of(node - 1)};
  if (from.size() < links_[node].from.size()) return;
  const auto [least, most] = layer.type->inputs;
  if (from.size() >= least && from.size() <= most) return;
  const std::string want =
      least == most ? std::to_string(least)
                    : std::to_string(least) +
                          (most == kAnyNumber ? " or more"
                                              : " to " + std::to_string(most));
  add(of(node, "from"), std::string(layer.type->name) + " wants " + want +
                            ", got " + std::to_string(from.size()));
}

// The node of that name, which has parameters of its own; or kNone.
std::size_t Connector::owner_named(const std::string& name, std::size_t node,
                                   const char* key) {
  const std::string place = of(node, key);
  const Value value = value_named(name, place);
  if (value == kNone) return kNone;
  const std::size_t owner = value - config_.inputs.size();
  if (value < config_.inputs.size())
    add(place, "'" + name + "' is an input");
  else if (owner == node)
    add(place, "'" + name + "' is the node itself");
  else if (!links_[owner].shares.empty())
    add(place, "'" + name + "' shares those of '" + links_[owner].shares +
                   "'; name that");
  else
    return owner;
  return kNone;
}

void Connector::resolve_tied(std::size_t node) {
  const std::string& name = links_[node].tied_to;
  if (name.empty()) return;
  const std::size_t owner = owner_named(name, node, "tied_to");
  if (owner == kNone) return;
  if (!links_[owner].tied_to.empty())
    return add(of(node, "tied_to"), "'" + name + "' is tied to '" +
                                        links_[owner].tied_to +
                                        "' itself; it has no weight");
  config_.layers[node].tied_to = owner;
}

void Connector::resolve_shared(std::size_t node) {
  const std::string& name = links_[node].shares;
  if (name.empty()) return;
  const std::string place = of(node, "shares");
  const std::size_t owner = owner_named(name, node, "shares");
  if (owner == kNone) return;
  const LayerConfig& its = config_.layers[owner];
  LayerConfig& own = config_.layers[node];
  if (its.type != own.type)
    return add(place, "'" + name + "' is of type " +
                          std::string(its.type->name) + ", this node of " +
                          std::string(own.type->name));
  own.settings = its.settings;
  own.training = its.training;
  own.tied_to = its.tied_to;
  own.shares = owner;
}

// The input of a sequence, which has no name, is called as in its data.
void Connector::resolve_target(std::size_t node) {
  const std::string& name = links_[node].target;
  if (name.empty() || name == "labels") return;
  const std::string place = of(node, "target");
  LayerConfig& layer = config_.layers[node];
  if (!config_.is_graph() && name == "features" && !values_.contains(name)) {
    layer.target = 0;
    return;
  }
  const Value value = value_named(name, place);
  if (value == config_.value_of(node))
    return add(place, "'" + name + "' is the node itself");
  if (value != kNone) layer.target = value;
}

std::vector<std::size_t> Connector::before(std::size_t node) const {
  std::vector<std::size_t> nodes;
  for (const Value v : from_[node])
    if (v >= config_.inputs.size()) nodes.push_back(v - config_.inputs.size());
  const LayerConfig& layer = config_.layers[node];
  for (const auto& owner : {layer.shares, layer.tied_to})
    if (owner) nodes.push_back(*owner);
  return nodes;
}

void Connector::find_outputs(const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string place = "outputs[" + std::to_string(i) + "]";
    const Value value = value_named(outputs[i], place);
    if (value == kNone) continue;
    const std::size_t node = value - config_.inputs.size();
    if (value < config_.inputs.size())
      add(place, "'" + outputs[i] + "' is an input");
    else if (std::ranges::count(config_.outputs, node) > 0)
      add(place, "'" + outputs[i] + "' is named twice");
    else if (config_.layers[node].type->output == nullptr)
      add(place, "'" + outputs[i] + "' has no loss; want an output layer");
    else
      config_.outputs.push_back(node);
  }
  for (std::size_t i = 0; i < config_.layers.size(); ++i)
    if (config_.layers[i].type->output != nullptr &&
        std::ranges::count(config_.outputs, i) == 0)
      add(of(i, "type"), "a layer with a loss; name '" +
                             config_.layers[i].name + "' in outputs");
}

// A sequence ends with the only layer that has a loss.
void Connector::check_sequence() {
  const std::size_t last = config_.layers.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    const LayerType& type = *config_.layers[i].type;
    if ((type.output != nullptr) == (i == last)) continue;
    add(of(i, "type"),
        (i == last ? "the last layer must be an output layer, got '"
                   : "only the last layer may be of type '") +
            std::string(type.name) + "'");
  }
  config_.outputs = {last};
}

// Marks the values and what they are made of.
void Connector::mark(std::vector<Value> open, std::vector<bool>& used) const {
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (used[value]) continue;
    used[value] = true;
    if (value < config_.inputs.size()) continue;
    for (const Value v : from_[value - config_.inputs.size()])
      open.push_back(v);
  }
}

// No gradient comes to what targets alone are made of.
void Connector::check_used() {
  std::vector<Value> outputs, targets;
  for (const std::size_t node : config_.outputs) {
    outputs.push_back(config_.value_of(node));
    if (const auto target = config_.layers[node].target)
      targets.push_back(*target);
  }
  std::vector<bool> used(config_.inputs.size() + from_.size());
  mark(outputs, used);
  const std::vector<bool> trained = used;
  mark(targets, used);
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const LayerConfig& layer = config_.layers[i];
    const Value v = config_.value_of(i);
    if (trained[v] || !used[v]) continue;
    if (layer.type->adds_loss)
      add(of(i, "name"), "only a target depends on '" + layer.name +
                             "', which is to add to the loss");
    else if (layer.type->trains != Trains::kNothing && !layer.training.frozen)
      add(of(i, "name"), "only a target depends on '" + layer.name +
                             "', which would not be trained; freeze it");
  }
  for (std::size_t i = 0; i < config_.inputs.size(); ++i)
    if (!used[i])
      add("inputs[" + std::to_string(i) + "].name",
          "no output depends on '" + config_.inputs[i].name + "'");
  for (std::size_t i = 0; i < from_.size(); ++i)
    if (!used[config_.value_of(i)])
      add(of(i, "name"), "no output depends on '" + config_.layers[i].name +
                             "'; lead it to one, or leave it out");
}

// The first ready layer of the document comes next.
std::vector<std::size_t> Connector::sorted() {
  std::vector<std::size_t> order, waits_for(from_.size());
  std::vector<std::vector<std::size_t>> after(from_.size());
  std::set<std::size_t> ready;
  for (std::size_t node = 0; node < from_.size(); ++node) {
    for (const std::size_t b : before(node)) {
      after[b].push_back(node);
      ++waits_for[node];
    }
    if (waits_for[node] == 0) ready.insert(node);
  }
  std::vector<bool> done(from_.size());
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    done[next] = true;
    order.push_back(next);
    for (const std::size_t node : after[next])
      if (--waits_for[node] == 0) ready.insert(node);
  }
  if (order.size() == from_.size()) return order;
  tell_cycle(done);
  return {};
}

// Going back from a node that never gets ready, one meets a node twice.
void Connector::tell_cycle(const std::vector<bool>& done) {
  std::vector<std::size_t> path;
  std::size_t node =
      static_cast<std::size_t>(std::ranges::find(done, false) - done.begin());
  while (std::ranges::count(path, node) == 0) {
    path.push_back(node);
    const std::vector<std::size_t> all = before(node);
    node = *std::ranges::find_if(all, [&](std::size_t b) { return !done[b]; });
  }
  std::string text = "'" + config_.layers[node].name + "' depends on itself";
  const auto start = std::ranges::find(path, node);
  for (auto at = start + 1; at != path.end(); ++at)
    text +=
        (at == start + 1 ? ", by '" : ", '") + config_.layers[*at].name + "'";
  add(of(node, "from"), text);
}

void Connector::reorder(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const std::size_t inputs = config_.inputs.size();
  std::vector<LayerConfig> layers;
  for (const std::size_t node : order) {
    layers.push_back(std::move(config_.layers[node]));
    LayerConfig& layer = layers.back();
    for (const Value v : from_[node])
      layer.from.push_back(v < inputs ? v : inputs + place[v - inputs]);
    if (layer.shares) layer.shares = place[*layer.shares];
    if (layer.tied_to) layer.tied_to = place[*layer.tied_to];
    if (layer.target && *layer.target >= inputs)
      layer.target = inputs + place[*layer.target - inputs];
  }
  config_.layers = std::move(layers);
  for (std::size_t& output : config_.outputs) output = place[output];
}

std::vector<std::string> Connector::run(
    const std::vector<std::string>& outputs) {
  name_values();
  if (!problems_.empty()) return problems_;
  for (std::size_t i = 0; i < links_.size(); ++i) resolve(i);
  for (std::size_t i = 0; i < links_.size(); ++i) resolve_tied(i);
  for (std::size_t i = 0; i < links_.size(); ++i) resolve_shared(i);
  for (std::size_t i = 0; i < links_.size(); ++i) resolve_target(i);
  if (config_.is_graph())
    find_outputs(outputs);
  else
    check_sequence();
  if (!problems_.empty()) return problems_;
  const std::vector<std::size_t> order = sorted();
  if (problems_.empty()) check_used();
  if (problems_.empty()) reorder(order);
  return problems_;
}

}  // namespace

std::vector<std::string> connect(NetworkConfig& config,
                                 const std::vector<Links>& links,
                                 const std::vector<std::string>& outputs) {
  return Connector(config, links).run(outputs);
}

}  // namespace dl::nn
