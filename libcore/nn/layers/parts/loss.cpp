// Keys and settings of layers with a loss.

#include "libcore/nn/layers/parts/loss.h"

#include <algorithm>

#include "libcore/nn/config/keys.h"

namespace dl::nn::layers {
namespace {

using device::Activation;
using device::Loss;
using tensor::View;

constexpr std::string_view kMeans[] = {"examples", "steps"};

// Whether outputs are separate probabilities.
bool is_binary(Loss kind) {
  return kind == Loss::kBinaryCrossEntropy || kind == Loss::kBinaryFocal;
}

// Whether the loss is one of classes whose targets are probabilities.
bool takes_smoothing(Loss kind) {
  return is_binary(kind) || kind == Loss::kNegativeLogLikelihood ||
         kind == Loss::kFocal;
}

bool looks_at_all_outputs(Loss kind) {
  return kind == Loss::kCategoricalHinge || kind == Loss::kCosineProximity ||
         kind == Loss::kMultiLabel;
}

bool needs_activation(Loss kind) {
  return kind == Loss::kNegativeLogLikelihood ||
         kind == Loss::kBinaryCrossEntropy || needs_logits(kind);
}

// Two weights, of no and yes, belong to the one output of a binary loss.
bool has_two_classes(const LayerSettings& settings) {
  return settings.integer("units") == 1 &&
         is_binary(settings.loss("loss").kind);
}

// Weights that the data are still to say are none yet.
std::vector<double> class_weights(const LayerSettings& settings) {
  if (!settings.has("class_weights") ||
      !settings.at("class_weights").is_array())
    return {};
  return settings.at("class_weights").get<std::vector<double>>();
}

double weight_of(const LayerSettings& settings) {
  return settings.has("loss_weight") ? settings.number("loss_weight") : 1;
}

std::string quoted(Loss kind) { return "'" + std::string(name_of(kind)) + "'"; }

void check_weights(const LayerSettings& settings, Loss kind,
                   const Complaint& complain) {
  const std::vector<double> weights = class_weights(settings);
  if (looks_at_all_outputs(kind))
    return complain("class_weights",
                    quoted(kind) +
                        " looks at all outputs at once, and has no "
                        "weights");
  if (!settings.at("class_weights").is_array()) return;
  const bool two = has_two_classes(settings);
  const std::int64_t wanted = class_weights_wanted(settings);
  if (std::cmp_not_equal(weights.size(), wanted))
    complain("class_weights",
             "want " + std::to_string(wanted) +
                 (wanted == 1 ? " number" : " numbers") +
                 (two ? ", of the classes 0 and 1" : ", one for each output") +
                 ", got " + std::to_string(weights.size()));
  else if (std::ranges::all_of(weights, [](double w) { return w == 0; }))
    complain("class_weights", "nothing would count: want one over 0");
}

void check_units(std::int64_t units, Loss kind, Activation activation,
                 const Complaint& complain) {
  if (units > 1) return;
  if (activation == Activation::kSoftmax)
    complain("units", "softmax over one unit is always 1; want 2 or more");
  if (activation == Activation::kLogSoftmax)
    complain("units", "log_softmax over one unit is always 0; want 2 or more");
  if (looks_at_all_outputs(kind))
    complain("units", quoted(kind) + " compares outputs; want 2 or more");
}

void check_logits(Loss kind, Activation activation, const Complaint& complain) {
  if (!activation_inside(kind))
    complain("from_logits", quoted(kind) + " has no activation inside");
  if (activation != Activation::kIdentity)
    complain("activation", "logits have 'identity', got '" +
                               std::string(name_of(activation)) + "'");
}

}  // namespace

std::int64_t class_weights_wanted(const LayerSettings& settings) {
  return has_two_classes(settings) ? 2 : settings.integer("units");
}

std::vector<Key> loss_keys() {
  return {key::loss(),
          key::number("label_smoothing", "(none)",
                      "The share of each target that is spread over all "
                      "classes.",
                      kShare),
          key::class_weights(),
          key::number("loss_weight", "(none)",
                      "Weight of this loss in the loss of the network; else 1.",
                      kAtLeast0),
          key::flag("from_logits", "(false)",
                    "The outputs are logits, and the loss has its activation "
                    "inside."),
          key::one_of("mean_over", "(none)",
                      "Unit over which the loss of a mini-batch is averaged; "
                      "else examples. Steps are the pixels of an image, too.",
                      kMeans),
          key::name("target", "(none)",
                    "Input or node whose value the outputs learn to predict; "
                    "else \"labels\".")};
}

device::LossSpec loss_of(const LayerSettings& settings) {
  device::LossSpec spec = settings.loss("loss");
  if (settings.has("label_smoothing"))
    spec.smoothing = settings.number("label_smoothing");
  const std::vector<double> weights = class_weights(settings);
  if (has_two_classes(settings) && weights.size() == 2) {
    spec.negative *= weights[0];
    spec.positive *= weights[1];
  }
  return spec;
}

bool is_from_logits(const LayerSettings& settings) {
  return settings.has("from_logits") && settings.flag("from_logits");
}

bool is_over_steps(const LayerSettings& settings) {
  return settings.has("mean_over") && settings.text("mean_over") == kMeans[1];
}

OutputSpec output_spec(const LayerSettings& settings) {
  return {.units = settings.integer("units"),
          .loss = loss_of(settings),
          .activation = settings.activation("activation")};
}

Activation activation_for(Loss loss) {
  return activation_inside(loss).value_or(Activation::kIdentity);
}

void complete_output(LayerSettings& settings) {
  if (settings.has("activation")) return;
  settings.set("activation",
               spell(is_from_logits(settings)
                         ? Activation::kIdentity
                         : activation_for(settings.loss("loss").kind)));
}

void check_loss(const LayerSettings& settings, const Complaint& complain) {
  const Loss kind = settings.loss("loss").kind;
  const Activation activation = settings.activation("activation").kind;
  if (is_from_logits(settings))
    check_logits(kind, activation, complain);
  else if (needs_activation(kind) && activation_for(kind) != activation)
    complain("activation", quoted(kind) + " needs '" +
                               std::string(name_of(activation_for(kind))) +
                               "', got '" + std::string(name_of(activation)) +
                               "'");
  check_units(settings.integer("units"), kind, activation, complain);
  if (settings.has("label_smoothing") && !takes_smoothing(kind))
    complain("label_smoothing",
             quoted(kind) +
                 " takes none; it is for negative_log_likelihood, "
                 "binary_cross_entropy, focal and binary_focal");
  if (settings.has("class_weights")) check_weights(settings, kind, complain);
}

OutputLoss::OutputLoss(const LayerSite& site, Memory& memory)
    : device_(site.device),
      sum_(site.loss),
      spec_(loss_of(*site.settings)),
      weight_(weight_of(*site.settings)),
      takes_logits_(is_from_logits(*site.settings) ||
                    (site.read_by_loss_alone &&
                     activation_inside(spec_.kind) ==
                         site.settings->activation("activation").kind)) {
  const std::vector<double> weights = class_weights(*site.settings);
  if (!site.training || weights.empty() || has_two_classes(*site.settings))
    return;
  tensor::Tensor host(tensor::DType::kF64,
                      {static_cast<std::int64_t>(weights.size())});
  std::ranges::copy(weights, host.as<double>().begin());
  spec_.weights = memory.allocate(host.shape());
  device_->upload(spec_.weights, host);
}

void OutputLoss::compute(View grad, View y, View target, View mask,
                         double scale) {
  scale *= weight_;
  if (takes_logits_)
    device_->loss_with_logits(sum_, spec_, grad, y, target, mask, scale);
  else
    device_->loss(sum_, spec_, grad, y, target, mask, scale);
}

}  // namespace dl::nn::layers
