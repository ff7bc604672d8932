// The list of fusions, and their application to a plan.

#include "libcore/nn/fusions/fusions.h"

#include <utility>

namespace dl::nn {
namespace fusions {

Readers::Readers(const NetworkConfig& config, Plan& plan)
    : plan_(plan), gone_(plan.steps.size(), false) {
  for (const std::size_t layer : config.outputs) {
    values_[config.value_of(layer)].outside = true;
    if (const auto target = config.layers[layer].target)
      values_[*target].outside = true;
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    values_[plan.steps[i].output].maker = i;
    for (const Value v : plan.steps[i].inputs) {
      ++values_[v].reads;
      values_[v].reader = i;
    }
  }
}

std::optional<std::size_t> Readers::only(Value v) const {
  const auto found = values_.find(v);
  if (found == values_.end() || found->second.outside ||
      found->second.reads != 1 || gone_[found->second.reader])
    return std::nullopt;
  return found->second.reader;
}

std::optional<std::size_t> Readers::maker(Value v) const {
  const auto found = values_.find(v);
  return found == values_.end() ? std::nullopt : found->second.maker;
}

void Readers::give(std::size_t step, Value v) {
  plan_.steps[step].output = v;
  values_[v].maker = step;
}

void Readers::close() {
  std::size_t to = 0;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (gone_[i]) continue;
    if (to != i) plan_.steps[to] = std::move(plan_.steps[i]);
    ++to;
  }
  plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(to),
                    plan_.steps.end());
}

}  // namespace fusions

namespace {

void apply(fusions::Rule rule, const NetworkConfig& config,
           const Layout& layout, Plan& plan) {
  fusions::Readers readers(config, plan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (readers.is_gone(i)) continue;
    PlannedLayer& first = plan.steps[i];
    const auto reader = readers.only(first.output);
    if (!reader) continue;
    PlannedLayer& second = plan.steps[*reader];
    if (second.inputs.size() > 1) continue;
    const Value output = second.output;
    // Shapes are those of whole sequences here.
    if (config.layers[first.layer].each_step ||
        config.layers[second.layer].each_step)
      continue;
    if (!rule(config, layout, {&first, &second})) continue;
    readers.give(i, output);
    readers.remove(*reader);
  }
  readers.close();
}

}  // namespace

void fuse(const NetworkConfig& config, const Layout& layout, bool training,
          Plan& plan) {
  apply(fusions::convolution_and_pooling, config, layout, plan);
  if (!training) apply(fusions::batch_normalisation, config, layout, plan);
  if (training) fusions::residual_ends(config, layout, plan);
  apply(fusions::batch_norm_and_relu, config, layout, plan);
  apply(fusions::activation, config, layout, plan);
}

}  // namespace dl::nn
