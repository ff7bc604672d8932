// Fusion of the end of a residual block: normalization, sum and relu.

#include <algorithm>
#include <optional>
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

// The batch normalization whose output only the sum reads; the earlier one of
// two.  For sequences, padding would be in its gradient.
std::optional<std::size_t> norm_of(const NetworkConfig& config,
                                   const Layout& layout, const Plan& plan,
                                   const Readers& readers, std::size_t sum) {
  std::optional<std::size_t> found;
  for (const Value v : plan.steps[sum].inputs) {
    const auto maker = readers.maker(v);
    if (!maker || readers.is_gone(*maker) || readers.only(v) != sum) continue;
    if (!is(config, plan.steps[*maker], "batch_norm") || layout.form(v).steps)
      continue;
    found = std::min(found.value_or(*maker), *maker);
  }
  return found;
}

}  // namespace

void residual_ends(const NetworkConfig& config, const Layout& layout,
                   Plan& plan) {
  Readers readers(config, plan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    PlannedLayer& sum = plan.steps[i];
    if (readers.is_gone(i) || !is(config, sum, "add") || sum.inputs.size() != 2)
      continue;
    const auto relu = readers.only(sum.output);
    if (!relu || !is(config, plan.steps[*relu], "activation") ||
        plan.steps[*relu].settings.activation("activation").kind !=
            device::Activation::kRelu)
      continue;
    const auto norm = norm_of(config, layout, plan, readers, i);
    if (!norm) continue;
    // Where the sum was, as both of its inputs are there by then.
    PlannedLayer end = std::move(plan.steps[*norm]);
    end.inputs.push_back(sum.inputs[sum.inputs[0] == end.output ? 1 : 0]);
    end.output = plan.steps[*relu].output;
    end.make = layers::make_residual_end;
    end.buffers = layers::manners_of_residual_end();
    sum = std::move(end);
    readers.give(i, sum.output);
    readers.take_over(i, sum.inputs[0]);
    readers.remove(*relu);
    readers.remove(*norm);
  }
  readers.close();
}

}  // namespace dl::nn::fusions
