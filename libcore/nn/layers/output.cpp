#include "libcore/nn/layers/output.h"

#include <algorithm>
#include <iterator>

#include "libcore/nn/keys.h"

namespace dl::nn::layers {
namespace {

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  return plan_linear(settings, inputs[0]);
}

}  // namespace

std::vector<Key> output_keys() {
  std::vector<Key> all{key::units(), key::bias(),
                       key::activation("(by the loss)"), key::tied_to()};
  std::ranges::copy(loss_keys(), std::back_inserter(all));
  return all;
}

OutputSpec output_spec(const Settings& settings) {
  return {.units = settings.integer("units"),
          .loss = loss_of(settings),
          .activation = settings.activation("activation")};
}

void complete_output(Settings& settings) {
  if (!settings.has("activation"))
    settings.set("activation",
                 spell(activation_for(settings.loss("loss").kind)));
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
                              .plan = plan,
                              .make = make<Output>};
  return type;
}

}  // namespace dl::nn::layers
