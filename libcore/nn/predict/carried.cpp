// Checks which networks can carry state between calls.

#include "libcore/nn/predict/carried.h"

#include <algorithm>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/nn/data/batch.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

// Looks at one layer after the other for what parts do not have in common with
// the whole.
class Parts {
 public:
  Parts(const NetworkConfig& config, const Layout& layout)
      : config_(config),
        layout_(layout),
        ended_(config.value_of(config.layers.size())) {}

  void look_at(std::size_t i);

 private:
  bool is_sequence(Value v) const { return layout_.form(v).steps; }
  [[noreturn]] void refuse(std::size_t i, const std::string& why) const {
    const LayerConfig& layer = config_.layers[i];
    throw Error{Code::kUsage, "--keep-state: layer '" + displayed(layer.name) +
                                  "' (" + std::string(layer.type->name) + ") " +
                                  why};
  }

  const NetworkConfig& config_;
  const Layout& layout_;
  std::vector<bool> ended_;  // by value: said of a sequence at its end
};

void Parts::look_at(std::size_t i) {
  const LayerLayout& layer = layout_.layers[i];
  const auto& from = config_.layers[i].from;
  const bool reads =
      std::ranges::any_of(from, [&](Value v) { return is_sequence(v); });
  const bool ended =
      std::ranges::any_of(from, [&](Value v) { return ended_[v]; });
  if (reads || layer.output.steps) {
    if (reads && ended)
      refuse(i, "reads what is said of a whole sequence at each of its steps");
    const std::string why = whole_alone(config_.layers[i], layer);
    if (!why.empty()) refuse(i, why);
  }
  ended_[config_.value_of(i)] = !layer.output.steps && (reads || ended);
}

}  // namespace

std::string whole_alone(const LayerConfig& layer, const LayerLayout& layout) {
  if (layer.type->recurrent && layout.carried.empty())
    return "reads sequences from both ends";
  if (!layout.step_by_step && layout.carried.empty())
    return "looks at several steps at once and carries no state";
  if (!layout.carried.empty() && layout.inputs[0].copies > 1)
    return "reads a stack";
  return "";
}

std::vector<CarriedSpec> carried_by(const NetworkConfig& config) {
  const Layout layout = layout_of(config);
  Parts parts(config, layout);
  std::vector<CarriedSpec> all;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    parts.look_at(i);
    for (const CarriedSpec& spec : layout.layers[i].carried)
      all.push_back({config.layers[i].name + "/" + spec.name, spec.shape});
  }
  if (all.empty())
    throw Error{Code::kUsage,
                "--keep-state: no layer carries a state from step to step"};
  return all;
}

NetworkConfig with_steps_of(NetworkConfig config,
                            const data::Metadata& metadata) {
  const Wanted wanted = wanted_by(config, layout_of(config));
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const auto found = metadata.schema.find(wanted.inputs[i].tensor);
    tensor::Shape& shape = config.inputs[i].shape;
    if (!wanted.inputs[i].sequence || found == metadata.schema.end() ||
        found->second.shape.rank() != shape.rank())
      continue;
    shape = shape.without_first().with_first(found->second.shape[0]);
  }
  return config;
}

}  // namespace dl::nn
