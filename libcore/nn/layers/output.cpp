// A dense layer with a loss, for sequences at each step.  Where the loss is
// computed from the logits (activation_inside() in tensor/loss.h), the
// activation is left out in training; other pairs go through it and its
// gradient.

#include <algorithm>
#include <iterator>

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/fused_activation.h"
#include "libcore/nn/layers/linear.h"
#include "libcore/nn/layers/loss.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

OutputSpec spec_of(const Settings& settings) {
  return {.units = settings.integer("units"),
          .loss = loss_of(settings),
          .activation = settings.activation("activation")};
}

class Output final : public OutputLayer {
 public:
  Output(const LayerSite& site, Memory& memory)
      : f_(site.settings->activation("activation")),
        linear_(site),
        activation_(site, f_, memory),
        loss_(site, memory) {}

  void freeze() override { frozen_ = linear_.freeze({}, f_); }

  void freeze_like(Layer& twin) override {
    const auto& other = static_cast<Output&>(twin);
    if (!other.frozen_) return freeze();
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  void forward(const Flow& flow, const Step& step) override {
    linear_.forward(flow.y, flow.x[0]);
    if (!frozen_ && !(loss_.takes_logits() && step.training))
      activation_.forward(flow.y, step.training);
  }

  double loss(View grad, View y, View target, View mask,
              double scale) override {
    return loss_.compute(grad, y, target, mask, scale);
  }

  void backward(const Flow& flow, const Step&) override {
    if (!loss_.takes_logits()) activation_.backward(flow.dy, flow.y);
    linear_.backward(flow.dx[0], flow.dy, flow.x[0]);
  }

 private:
  tensor::ActivationSpec f_;
  Linear linear_;
  FusedActivation activation_;
  OutputLoss loss_;
  bool frozen_ = false;  // the product has weights, bias and activation
};

void complete(Settings& settings) {
  if (!settings.has("activation"))
    settings.set("activation",
                 spell(activation_for(settings.loss("loss").kind)));
}

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  return plan_linear(settings, inputs[0]);
}

std::vector<Key> keys() {
  std::vector<Key> all{key::units(), key::bias(),
                       key::activation("(by the loss)")};
  std::ranges::copy(loss_keys(), std::back_inserter(all));
  return all;
}

}  // namespace

const LayerType& output() {
  static const LayerType type{.name = "output",
                              .words =
                                  "A *dense* layer with a loss.\n"
                                  "Its *activation* follows its *loss*, see "
                                  "*dl-network*(5), LOSSES.",
                              .other_names = {"rnnoutput"},
                              .keys = keys(),
                              .trains = Trains::kWeights,
                              .complete = complete,
                              .check = check_loss,
                              .output = spec_of,
                              .plan = plan,
                              .make = make<Output>};
  return type;
}

}  // namespace dl::nn::layers
