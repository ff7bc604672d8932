#include <algorithm>
#include <utility>

#include "libcore/nn/fusions/fusions.h"
#include "libcore/nn/layers/batch_norm.h"

namespace dl::nn::fusions {
namespace {

// A step of this type by itself, on whole inputs.
bool is(const NetworkConfig& config, const PlannedLayer& step,
        std::string_view type) {
  const LayerConfig& layer = config.layers[step.layer];
  return layer.type->name == type && step.make == layer.type->make &&
         !layer.each_step;
}

// The batch normalisation whose output only the sum reads; end() if there is
// none.  Of sequences, padding would be in its gradient.
std::vector<PlannedLayer>::iterator norm_of(const NetworkConfig& config,
                                            const Layout& layout, Plan& plan,
                                            const PlannedLayer& sum) {
  return std::ranges::find_if(plan.steps, [&](const PlannedLayer& step) {
    if (!is(config, step, "batch_norm") || layout.form(step.output).steps)
      return false;
    const auto reader = only_reader(config, plan, step.output);
    return reader != plan.steps.end() && &*reader == &sum;
  });
}

}  // namespace

void residual_ends(const NetworkConfig& config, const Layout& layout,
                   Plan& plan) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    PlannedLayer& sum = plan.steps[i];
    if (!is(config, sum, "add") || sum.inputs.size() != 2) continue;
    const auto relu = only_reader(config, plan, sum.output);
    if (relu == plan.steps.end() || !is(config, *relu, "activation") ||
        relu->settings.activation("activation").kind !=
            tensor::Activation::kRelu)
      continue;
    const auto norm = norm_of(config, layout, plan, sum);
    if (norm == plan.steps.end()) continue;
    // Where the sum was, as both of its inputs are there by then.
    PlannedLayer end = std::move(*norm);
    end.inputs.push_back(sum.inputs[sum.inputs[0] == end.output ? 1 : 0]);
    end.output = relu->output;
    end.make = layers::make_residual_end;
    end.manners = layers::manners_of_residual_end();
    sum = std::move(end);
    plan.steps.erase(relu);
    plan.steps.erase(norm);
    --i;
  }
}

}  // namespace dl::nn::fusions
