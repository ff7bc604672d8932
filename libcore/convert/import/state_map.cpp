// A proposal which tensor of a state dict is which of a network.

#include <algorithm>
#include <set>

#include "libcore/convert/import/graph.h"
#include "libcore/convert/import/state_dict.h"
#include "libcore/nn/layout.h"

namespace dl::convert {
namespace {

// Digits by their number: "layer10" behind "layer9".
std::string sorted_by(const std::string& name) {
  std::string key, digits;
  const auto flush = [&] {
    if (!digits.empty())
      key += std::string(12 - std::min<std::size_t>(digits.size(), 12), '0') +
             digits;
    digits.clear();
  };
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      digits += c;
      continue;
    }
    flush();
    key += c;
  }
  flush();
  return key;
}

// Letters and digits alone: what names have in common.
std::string bare(const std::string& name) {
  std::string text;
  for (const char c : name)
    if (c != '.' && c != '_' && c != '-' && c != '/') text += c;
  return text;
}

// A tensor of the network, and what PyTorch calls it within its module.
struct Want {
  std::string name;
  Sizes shape;                        // there
  std::vector<std::string> suffixes;  // several are added
  Sizes rows;
};

// Names that a tensor may have in a module of PyTorch, by ours.
std::vector<std::string> suffixes_of(const std::string& type,
                                     const std::string& tensor,
                                     const std::string& level) {
  if (type == "lstm" || type == "gru" || type == "simple_rnn") {
    const bool back = tensor.starts_with("backward_");
    const std::string own = back ? tensor.substr(9) : tensor;
    const std::string end = level + (back ? "_reverse" : "");
    if (own == "weight") return {"weight_ih" + end};
    if (own == "recurrent_weight") return {"weight_hh" + end};
    return {"bias_ih" + end, "bias_hh" + end};
  }
  if (type == "multi_head_attention") {
    const bool weight = tensor.ends_with("weight");
    if (tensor.starts_with("output_"))
      return {weight ? "out_proj.weight" : "out_proj.bias"};
    return {weight ? "in_proj_weight" : "in_proj_bias"};
  }
  if (tensor == "gamma" || tensor == "slope") return {"weight"};
  if (tensor == "beta") return {"bias"};
  if (tensor == "running_variance") return {"running_var"};
  return {tensor};
}

class Proposer {
 public:
  Proposer(const nn::NetworkConfig& config, const StateDict& state)
      : config_(config), state_(state), layout_(nn::layout_of(config)) {
    for (const auto& [name, tensor] : state.tensors)
      for (std::size_t at = name.find_last_of('.');;
           at = name.find_last_of('.', at - 1)) {
        modules_.insert(
            {sorted_by(at == std::string::npos ? "" : name.substr(0, at)),
             at == std::string::npos ? "" : name.substr(0, at)});
        if (at == std::string::npos || at == 0) break;
      }
  }

  Json propose() {
    std::vector<bool> done(config_.layers.size(), false);
    for (const bool by_name : {true, false})
      for (std::size_t i = 0; i < config_.layers.size(); ++i)
        if (!done[i] && !config_.layers[i].shares) done[i] = add(i, by_name);
    for (const auto* segments : {&layout_.parameters, &layout_.statistics})
      for (const nn::Segment& segment : *segments)
        if (!map_.contains(segment.name)) map_[segment.name] = by_size(segment);
    return map_;
  }

 private:
  std::vector<Want> wants(std::size_t layer, const std::string& level) const;
  bool fits(const std::vector<Want>& wants, const std::string& module) const;
  bool add(std::size_t layer, bool by_name);
  Json by_size(const nn::Segment& segment);

  const nn::NetworkConfig& config_;
  const StateDict& state_;
  nn::Layout layout_;
  std::set<std::pair<std::string, std::string>> modules_;  // in natural order
  std::set<std::string> used_;
  Json map_ = Json::object();
};

std::vector<Want> Proposer::wants(std::size_t layer,
                                  const std::string& level) const {
  const std::string type(config_.layers[layer].type->name);
  std::vector<Want> all;
  const auto add = [&](const nn::Segment& segment) {
    if (segment.layer != layer) return;
    const std::string tensor = segment.name.substr(segment.name.rfind('/') + 1);
    Want want{segment.name,
              state_order(config_, layout_, segment).shape,
              suffixes_of(type, tensor, level),
              {}};
    if (type == "gru" && tensor.ends_with("bias") && want.shape[0] % 4 == 0)
      want.shape[0] = want.shape[0] / 4 * 3;
    constexpr const char* kParts[] = {"query_", "key_", "value_"};
    for (std::int64_t k = 0; k < 3; ++k)
      if (type == "multi_head_attention" && tensor.starts_with(kParts[k])) {
        const std::int64_t rows = want.shape[0];
        want.rows = {k * rows, (k + 1) * rows};
        want.shape[0] = 3 * rows;
      }
    all.push_back(std::move(want));
  };
  for (const nn::Segment& s : layout_.parameters) add(s);
  for (const nn::Segment& s : layout_.statistics) add(s);
  return all;
}

std::string within(const std::string& module, const std::string& suffix) {
  return module.empty() ? suffix : module + "." + suffix;
}

// All are there, of these shapes, and nothing is left of the module.
bool Proposer::fits(const std::vector<Want>& wants,
                    const std::string& module) const {
  std::set<std::string> asked;
  for (const Want& want : wants)
    for (const std::string& suffix : want.suffixes) {
      const std::string name = within(module, suffix);
      const auto found = state_.tensors.find(name);
      if (found == state_.tensors.end() || found->second.shape != want.shape ||
          (want.rows.empty() && used_.count(name) > 0))
        return false;
      asked.insert(suffix);
    }
  for (const char* other : {"weight", "bias", "running_mean"})
    if (asked.count(other) == 0 && asked.count("weight") > 0 &&
        state_.tensors.count(within(module, other)) > 0)
      return false;
  return true;
}

bool Proposer::add(std::size_t layer, bool by_name) {
  const std::string& own = config_.layers[layer].name;
  for (const std::string level : {"", "_l0", "_l1", "_l2", "_l3"})
    for (const auto& [key, module] : modules_) {
      if (by_name && bare(module) != bare(own)) continue;
      const std::vector<Want> all = wants(layer, level);
      if (all.empty()) return true;
      if (!fits(all, module)) continue;
      for (const Want& want : all) {
        Json names = Json::array();
        for (const std::string& suffix : want.suffixes) {
          names.push_back(within(module, suffix));
          used_.insert(within(module, suffix));
        }
        Json entry = names.size() == 1 ? names[0] : names;
        if (!want.rows.empty()) entry = {{"from", entry}, {"rows", want.rows}};
        map_[want.name] = std::move(entry);
      }
      return true;
    }
  return false;
}

// The first of this shape, or of as many numbers, that nothing else is.
Json Proposer::by_size(const nn::Segment& segment) {
  const Sizes shape = state_order(config_, layout_, segment).shape;
  for (const bool alike : {true, false})
    for (const auto& [key, module] : modules_)
      for (const auto& [name, tensor] : state_.tensors) {
        const bool own =
            alike ? tensor.shape == shape
                  : static_cast<std::int64_t>(tensor.values.size()) ==
                        segment.elements();
        if (name.substr(0, name.find_last_of('.')) != module &&
            !(module.empty() && name.find('.') == std::string::npos))
          continue;
        if (!own || used_.count(name) > 0) continue;
        used_.insert(name);
        if (alike) return name;
        std::vector<int> order;
        order.reserve(tensor.shape.size());
        for (std::size_t k = 0; k < tensor.shape.size(); ++k)
          order.push_back(static_cast<int>(k));
        return {{"from", name}, {"order", order}};
      }
  return nullptr;
}

}  // namespace

Json proposed_map(const nn::NetworkConfig& config, const StateDict& state) {
  return Proposer(config, state).propose();
}

}  // namespace dl::convert
