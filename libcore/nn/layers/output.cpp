// Loss and predictions of an output layer.

#include "libcore/nn/layers/parts/output.h"

#include <algorithm>
#include <iterator>

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/gaussian_output.h"

namespace dl::nn::layers {
namespace {

LayerShape infer_output(const LayerSettings& settings,
                        std::span<const ValueSpec> inputs) {
  if (!is_gaussian(settings)) return infer_linear(settings, inputs[0]);
  LayerShape plan = infer_linear(doubled(settings), inputs[0]);
  plan.output = halved(plan.output);
  plan.buffers = {.keeps_output = false};
  return plan;
}

}  // namespace

std::vector<Key> output_keys() {
  std::vector<Key> all{key::units(), key::bias(),
                       key::activation("(by the loss)"), key::tied_to()};
  std::ranges::copy(loss_keys(), std::back_inserter(all));
  return all;
}

const LayerType& output() {
  static const LayerType type{.name = "output",
                              .words =
                                  "A *dense* layer with a loss.\n"
                                  "Its *activation* follows its *loss*, see "
                                  "*dl-network*(5), LOSSES.",
                              .other_names = {"rnnoutput"},
                              .keys = output_keys(),
                              .trains = Trains::kWeights,
                              .complete = complete_output,
                              .check = check_loss,
                              .output = output_spec,
                              .divides = true,
                              .infer = infer_output,
                              .make = make_output<Output>};
  return type;
}

}  // namespace dl::nn::layers
