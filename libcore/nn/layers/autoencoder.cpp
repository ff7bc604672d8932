// A dense layer that can learn by itself what it is to make of its input: to
// give back what was there before some of it was lost (Vincent et al. 2008).

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layers/dense.h"
#include "libcore/nn/layers/parts/fused_activation.h"
#include "libcore/nn/layers/parts/linear.h"
#include "libcore/nn/layers/parts/loss.h"

namespace dl::nn::layers {
namespace {

// Document of a node as it is in training.
Json trained_as(const Json& node) {
  Json training = node;
  for (const char* own : {"type", "name", "from", "frozen", "units", "bias",
                          "activation", "corruption", "sparsity",
                          "sparsity_weight", "loss", "visible_bias_init"})
    training.erase(own);
  return training;
}

std::vector<Json> pretraining(const Json& node, std::int64_t inputs) {
  const auto name = node.at("name").get<std::string>();
  std::vector<Json> nodes;
  const auto add = [&](const char* type, const std::string& called, Json more) {
    more["type"] = type;
    more["name"] = called;
    nodes.push_back(std::move(more));
  };
  if (node.at("corruption") > 0)
    add("dropout", name + ".corrupted",
        {{"rate", node.at("corruption")}, {"unscaled", true}});
  Json code = trained_as(node);
  for (const char* key : {"units", "bias", "activation"})
    code[key] = node.at(key);
  add("dense", name, code);
  if (node.contains("sparsity"))
    add("activity_regularization", name + ".sparse",
        {{"sparsity", node.at("sparsity")},
         {"sparsity_weight", node.at("sparsity_weight")}});
  Json visible = trained_as(node);
  visible["units"] = inputs;
  visible["tied_to"] = name;
  visible["loss"] = node.at("loss");
  visible["bias_init"] = node.at("visible_bias_init");
  add("output", name + ".reconstruction", visible);
  return nodes;
}

Key loss_key() {
  Key key = key::loss();
  key.fallback = R"("binary_cross_entropy")";
  key.doc =
      "Reconstruction loss: the difference between the decoded code and the "
      "input.";
  return key;
}

void check_autoencoder(const LayerSettings& settings,
                       const Complaint& complain) {
  const device::Loss kind = settings.loss("loss").kind;
  if (device::numbers_each(kind) > 1 ||
      activation_for(kind) == device::Activation::kSoftmax)
    complain("loss",
             "'" + std::string(name_of(kind)) + "' is not for what goes in");
}

LayerShape infer_autoencoder(const LayerSettings& settings,
                             std::span<const ValueSpec> inputs) {
  if (inputs[0].steps)
    throw Error{Code::kConfig, "its input is a sequence; want one example"};
  return infer_linear(settings, inputs[0]);
}

}  // namespace

const LayerType& autoencoder() {
  static const LayerType type{
      .name = "autoencoder",
      .words =
          "A *dense* layer that *dl-master --pretrain* trains by itself before "
          "the network: from\n"
          "its y = f(W x + b), with a share *corruption* of the numbers of x "
          "set to 0, it learns to\n"
          "reconstruct the input x as W' y + c, with a visible bias c, under "
          "the *loss* and its\n"
          "activation.\n"
          "With a *sparsity* its units should have that mean activity, as in\n"
          "*activity_regularization*.\n"
          "The visible bias is not part of the network.\n"
          "Deeplearning4j compares with what is left of x, and its sparsity is "
          "in place of the 1 in\n"
          "the derivative y (1 - y).",
      .keys = {key::units(), key::bias(), key::activation(R"("sigmoid")"),
               key::number("corruption", "0.3",
                           "The share of inputs that is lost.", kShare),
               key::number("sparsity", "(none)",
                           "Mean activity that units should have.", "(0, 1)"),
               key::number("sparsity_weight", "1",
                           "Weight of the penalty for another rate.",
                           kAtLeast0),
               loss_key(),
               key::number("visible_bias_init", "0",
                           "Initial value of the visible biases.", kAny)},
      .trains = Trains::kWeights,
      .check = check_autoencoder,
      .pretraining = pretraining,
      .absorbs = is_linear,
      .activates = true,
      .divides = true,
      .infer = infer_autoencoder,
      .make = make_dense};
  return type;
}

}  // namespace dl::nn::layers
