// Choice of layers that lanes compute jointly.

#include "libcore/nn/plan/plan_joint.h"

#include <algorithm>

namespace dl::nn {
namespace {

// Elements of a weight above which joint computation pays; below, meeting takes
// longer than what is saved.
constexpr std::int64_t kLargeWeight = std::int64_t{1} << 18;

// The rows of a mini-batch that go through a layer whose weight that is.
std::int64_t rows_of(const Layout& layout, const PlannedLayer& step,
                     const Segment& weight, std::int64_t examples) {
  const ValueSpec& form = layout.form(step.inputs[0]);
  return examples * form.copies * form.shape.elements() / weight.shape[1];
}

// Whether nobody else has, or disturbs, what the layer learns.
bool is_alone(const NetworkConfig& config, std::size_t layer) {
  const LayerConfig& own = config.layers[layer];
  return !own.tied_to && !own.shares && !own.training.weight_noise.any() &&
         std::ranges::none_of(config.layers, [&](const LayerConfig& other) {
           return other.tied_to == layer || other.shares == layer;
         });
}

}  // namespace

void plan_joint(const NetworkConfig& config, const Layout& layout,
                Division division, Plan& plan) {
  std::vector<bool> joint(layout.parameters.size());
  for (PlannedLayer& step : plan.steps) {
    if (division.lanes == 1 || !config.layers[step.layer].type->divides ||
        !is_alone(config, step.layer))
      continue;
    const LayerLayout& own = layout.layers[step.layer];
    const Segment& weight = layout.parameters[own.parameters_begin];
    const std::int64_t units = weight.shape[0], inputs = weight.shape[1],
                       rows = rows_of(layout, step, weight, division.examples);
    // Jointly, lanes hand each other what goes in and out.
    if (weight.elements() < kLargeWeight ||
        rows * (inputs + units) > weight.elements() * division.lanes)
      continue;
    step.joint = true;
    plan.joint_given = std::max(plan.joint_given, rows * (inputs + units));
    plan.joint_made = std::max(plan.joint_made, rows * std::max(inputs, units));
    for (std::size_t p = own.parameters_begin; p < own.parameters_end; ++p)
      joint[p] = true;
  }
  for (std::size_t p = 0; p < joint.size(); ++p) {
    plan.gradients.offsets.push_back(joint[p] ? LaneGradients::kNone
                                              : plan.gradients.elements);
    if (!joint[p]) plan.gradients.elements += layout.parameters[p].elements();
  }
}

}  // namespace dl::nn
