// A dense layer with a loss, for sequences at each step.  Softmax with negative
// log likelihood and sigmoid with binary cross-entropy are computed with their
// loss, from the logits; other pairs go through the activation and its
// gradient.

#include "libcore/nn/keys.h"
#include "libcore/nn/layers/fused_activation.h"
#include "libcore/nn/layers/linear.h"

namespace dl::nn::layers {
namespace {

using tensor::Activation;
using tensor::Loss;
using tensor::View;

OutputSpec spec_of(const Settings& settings) {
  return {.units = settings.integer("units"),
          .loss = settings.one_of<Loss>("loss"),
          .activation = settings.activation("activation")};
}

// The activation that the loss needs, if it needs one.
std::optional<Activation> activation_for(Loss loss) {
  switch (loss) {
    case Loss::kNegativeLogLikelihood:
      return Activation::kSoftmax;
    case Loss::kBinaryCrossEntropy:
      return Activation::kSigmoid;
    default:
      return {};
  }
}

bool fused_with_loss(const OutputSpec& spec) {
  return activation_for(spec.loss) == spec.activation.kind;
}

class Output final : public OutputLayer {
 public:
  Output(const LayerSite& site, Memory& memory)
      : site_(site),
        spec_(spec_of(*site.settings)),
        linear_(site),
        activation_(site, spec_.activation, memory),
        fused_(fused_with_loss(spec_)) {}

  void freeze(Layer*) override {
    frozen_ = linear_.freeze({}, spec_.activation);
  }

  void freeze_like(Layer& twin, Layer* before) override {
    const auto& other = static_cast<Output&>(twin);
    if (!other.frozen_) return freeze(before);
    linear_.freeze_like(other.linear_);
    frozen_ = true;
  }

  View forward(View x, const Step& step) override {
    y_ = site_.result_of(step.examples);
    linear_.forward(y_, x);
    if (!frozen_ && !(fused_ && step.training))
      activation_.forward(y_, step.training);
    return y_;
  }

  double loss(View grad, View target, View mask, double scale) override {
    const Loss kind = spec_.loss;
    const View y = y_.reshaped(target.shape);
    if (fused_)
      return site_.device->loss_with_logits(kind, grad, y, target, mask, scale);
    return site_.device->loss(kind, grad, y, target, mask, scale);
  }

  View backward(View dx, View dy, const Step&) override {
    if (!fused_) activation_.backward(dy, y_);
    linear_.backward(dx, dy);
    return dx;
  }

 private:
  LayerSite site_;
  OutputSpec spec_;
  Linear linear_;
  FusedActivation activation_;
  bool fused_;
  bool frozen_ = false;  // the product has weights, bias and activation
  View y_;
};

void complete(Settings& settings) {
  if (settings.has("activation")) return;
  const auto needed = activation_for(settings.one_of<Loss>("loss"));
  settings.set("activation", spell(needed.value_or(Activation::kIdentity)));
}

void check(const Settings& settings, const Complaint& complain) {
  const OutputSpec spec = spec_of(settings);
  const Activation activation = spec.activation.kind;
  const auto needed = activation_for(spec.loss);
  if (needed && *needed != activation)
    complain("activation", "'" + std::string(name_of(spec.loss)) + "' needs '" +
                               std::string(name_of(*needed)) + "', got '" +
                               std::string(name_of(activation)) + "'");
  if (activation == Activation::kSoftmax && spec.units == 1)
    complain("units", "softmax over one unit is always 1; want 2 or more");
  if (activation == Activation::kLogSoftmax && spec.units == 1)
    complain("units", "log_softmax over one unit is always 0; want 2 or more");
}

Blueprint plan(const Settings& settings, std::span<const Form> inputs) {
  Blueprint plan = plan_linear(settings, inputs[0]);
  plan.flops += activation_flops(settings, plan.output.shape);
  return plan;
}

}  // namespace

const LayerType& output() {
  static const LayerType type{
      .name = "output",
      .other_names = {"rnnoutput"},
      .keys = {key::units(), key::bias(), key::activation("(by the loss)"),
               key::one_of("loss", "required", "What training makes small.",
                           names_of<Loss>())},
      .trains = Trains::kWeights,
      .complete = complete,
      .check = check,
      .output = spec_of,
      .plan = plan,
      .make = make<Output>};
  return type;
}

}  // namespace dl::nn::layers
