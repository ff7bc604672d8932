// Layers that take each number, step or pixel by itself: dense ones, tables,
// normalization, activations.

#include "libcore/convert/export/keras/layer.h"
#include "libcore/nn/layers/parts/gaussian_output.h"

namespace dl::convert {
namespace {

using tensor::Shape;
using Weights = KerasLayer::Weights;

void refuse_variances(const KerasLayer& l) {
  if (l.config.type->output != nullptr && nn::layers::is_gaussian(l.settings))
    l.refuse(
        "a loss \"gaussian\" has variances beside the outputs, which a "
        "layer of Keras has not");
}

void dense(KerasLayer& l) {
  refuse_variances(l);
  const Shape& in = l.input().shape;
  const std::int64_t steps = l.input().steps ? in[0] : 1;
  if (!l.input().steps && in.rank() > 1)
    l.add("Flatten", Json::object(), {in.elements()});
  else if (in.rank() > 2)
    l.add("Reshape", {{"target_shape", {steps, in.elements() / steps}}},
          {steps, in.elements() / steps});
  const bool bias = l.settings.flag("bias");
  Weights weights{
      {"vars/0", l.config.tied_to ? l.weight(0) : l.weight(0, {1, 0})}};
  if (bias) weights.emplace_back("vars/1", l.weight(1));
  l.activated("Dense",
              {{"units", l.settings.integer("units")}, {"use_bias", bias}},
              std::move(weights));
}

void loss(KerasLayer& l) {
  refuse_variances(l);
  l.activate(l.settings.activation("activation"));
}

void activation(KerasLayer& l) {
  l.activate(l.settings.activation("activation"));
}

void rrelu(KerasLayer& l) {
  const double mean =
      (l.settings.number("lower") + l.settings.number("upper")) / 2;
  l.activate({.kind = device::Activation::kLeakyRelu, .alpha = mean});
}

void prelu(KerasLayer& l) {
  Json shared = Json::array();
  KerasTensor slopes = l.weight(0);
  if (l.settings.text("slopes") == "channel") {
    for (int axis = 1; axis < l.input().shape.rank(); ++axis) {
      shared.push_back(axis);
      slopes.shape.insert(slopes.shape.begin(), 1);
    }
  } else {
    const auto extents = l.input().shape.extents();
    slopes.shape.assign(extents.begin(), extents.end());
  }
  l.last("PReLU", {{"shared_axes", shared.empty() ? Json() : shared}},
         {{"vars/0", slopes}});
}

void batch_norm(KerasLayer& l) {
  l.last("BatchNormalization",
         {{"axis", -1},
          {"momentum", l.settings.number("decay")},
          {"epsilon", l.settings.number("epsilon")}},
         {{"vars/0", l.weight(0)},
          {"vars/1", l.weight(1)},
          {"vars/2", l.statistic(0)},
          {"vars/3", l.statistic(1)}});
}

Weights gamma_and_beta(const KerasLayer& l) {
  return {{"vars/0", l.weight(0)}, {"vars/1", l.weight(1)}};
}

void layer_norm(KerasLayer& l) {
  l.last("LayerNormalization",
         {{"axis", -1}, {"epsilon", l.settings.number("epsilon")}},
         gamma_and_beta(l));
}

// Keras normalizes all steps of a sequence at once.
void group_norm(KerasLayer& l) {
  const std::int64_t groups = l.settings.integer("groups");
  if (!l.input().steps)
    return l.last("GroupNormalization",
                  {{"axis", -1},
                   {"groups", groups},
                   {"epsilon", l.settings.number("epsilon")}},
                  gamma_and_beta(l));
  if (groups != 1)
    l.refuse(
        "its groups are those of a step, which Keras has for whole sequences "
        "alone");
  layer_norm(l);
}

// y = w x + b by channel is a convolution of a window of one.
void element_multiply(KerasLayer& l) {
  const Shape& in = l.input().shape;
  const std::int64_t channels = in.back();
  const bool image = in.rank() > 2;
  const Shape seen =
      image ? Shape{in[0], in.elements() / in[0] / channels, channels}
            : Shape{in.elements() / channels, channels};
  const auto reshape = [&](const Shape& shape) {
    const auto extents = shape.extents();
    l.add("Reshape",
          {{"target_shape",
            std::vector<std::int64_t>(extents.begin(), extents.end())}},
          shape);
  };
  if (seen.rank() != in.rank()) reshape(seen);
  KerasTensor kernel = l.weight(0);
  kernel.shape = image ? std::vector<std::int64_t>{1, 1, channels, 1}
                       : std::vector<std::int64_t>{1, channels, 1};
  l.add(image ? "DepthwiseConv2D" : "DepthwiseConv1D",
        {{"kernel_size", image ? Json{1, 1} : Json(1)}}, seen,
        {{"vars/0", kernel}, {"vars/1", l.weight(1)}});
  if (seen.rank() != in.rank()) reshape(in);
}

void dropout(KerasLayer& l) {
  if (l.is_on("unscaled")) return;  // Keras has no such, outside training none
  l.last("Dropout", {{"rate", l.settings.number("rate")}});
}
void spatial_dropout(KerasLayer& l) {
  const int axes = l.input().shape.rank() - 1;
  if (axes < 1 || axes > 3) return dropout(l);
  l.last("SpatialDropout" + std::to_string(axes) + "D",
         {{"rate", l.settings.number("rate")}});
}
void stochastic_depth(KerasLayer& l) {
  Json noise = Json::array({nullptr});
  for (int k = 0; k < l.input().shape.rank(); ++k) noise.push_back(1);
  l.last("Dropout",
         {{"rate", l.settings.number("rate")}, {"noise_shape", noise}});
}
void alpha_dropout(KerasLayer& l) {
  l.last("AlphaDropout", {{"rate", l.settings.number("rate")}});
}
void gaussian_dropout(KerasLayer& l) {
  l.last("GaussianDropout", {{"rate", l.settings.number("rate")}});
}
void gaussian_noise(KerasLayer& l) {
  l.last("GaussianNoise", {{"stddev", l.settings.number("deviation")}});
}

// l2 here is of half of the square.
void activity(KerasLayer& l) {
  if (l.settings.has("sparsity"))
    l.refuse("\"sparsity\": Keras has no such cost");
  l.last("ActivityRegularization", {{"l1", l.settings.number("l1")},
                                    {"l2", l.settings.number("l2") / 2}});
}

void rescale(KerasLayer& l, double scale, double offset) {
  l.last("Rescaling", {{"scale", scale}, {"offset", offset}});
}
void scale(KerasLayer& l) { rescale(l, l.settings.number("factor"), 0); }
void shift(KerasLayer& l) { rescale(l, 1, l.settings.number("amount")); }

// Its epsilon is a bound there, and a summand here.
void l2_normalize(KerasLayer& l) {
  constexpr double kEpsilon = 1e-12;
  if (l.settings.number("epsilon") > kEpsilon)
    l.refuse("\"epsilon\": Keras has one of 1e-12");
  l.last("UnitNormalization", {{"axis", -1}});
}

void embedding(KerasLayer& l) {
  l.last("Embedding",
         {{"input_dim", l.settings.integer("rows")},
          {"output_dim", l.settings.integer("units")},
          {"mask_zero", l.settings.flag("mask_zero")}},
         {{"vars/0", l.weight(0)}});
}

void masking(KerasLayer& l) {
  l.last("Masking", {{"mask_value", l.settings.number("value")}});
}

}  // namespace

std::span<const KerasRule> keras_dense() {
  static constexpr KerasRule kRules[] = {
      {"dense", dense, true},
      {"output", dense, true},
      {"center_loss", dense, true},
      {"autoencoder", dense, true},
      {"loss", loss, true},
      {"activation", activation, true},
      {"rrelu", rrelu, true},
      {"prelu", prelu, true},
      {"batch_norm", batch_norm, true},
      {"layer_norm", layer_norm, true},
      {"group_norm", group_norm, true},
      {"element_multiply", element_multiply},
      {"dropout", dropout, true},
      {"spatial_dropout", spatial_dropout, true},
      {"stochastic_depth", stochastic_depth, true},
      {"alpha_dropout", alpha_dropout, true},
      {"gaussian_dropout", gaussian_dropout, true},
      {"gaussian_noise", gaussian_noise, true},
      {"activity_regularization", activity, true},
      {"scale", scale, true},
      {"shift", shift, true},
      {"l2_normalize", l2_normalize, true},
      {"embedding", embedding, true},
      {"masking", masking, true}};
  return kRules;
}

}  // namespace dl::convert
