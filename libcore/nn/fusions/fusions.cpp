#include "libcore/nn/fusions/fusions.h"

#include <algorithm>

namespace dl::nn {
namespace fusions {

std::vector<PlannedLayer>::iterator only_reader(const NetworkConfig& config,
                                                Plan& plan, Value v) {
  auto reader = plan.steps.end();
  for (const std::size_t layer : config.outputs)
    if (config.value_of(layer) == v || config.layers[layer].target == v)
      return reader;
  for (auto step = plan.steps.begin(); step != plan.steps.end(); ++step) {
    const auto reads = std::ranges::count(step->inputs, v);
    if (reads == 0) continue;
    if (reads > 1 || reader != plan.steps.end()) return plan.steps.end();
    reader = step;
  }
  return reader;
}

}  // namespace fusions

namespace {

void apply(fusions::Rule rule, const NetworkConfig& config,
           const Layout& layout, Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto second =
        fusions::only_reader(config, plan, plan.steps[i].output);
    if (second == plan.steps.end() || second->inputs.size() > 1) continue;
    const Value output = second->output;
    // Shapes are those of whole sequences here.
    if (config.layers[plan.steps[i].layer].each_step ||
        config.layers[second->layer].each_step)
      continue;
    if (!rule(config, layout, {&plan.steps[i], &*second})) continue;
    plan.steps[i].output = output;
    plan.steps.erase(second);
  }
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
