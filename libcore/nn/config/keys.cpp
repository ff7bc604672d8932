// Keys that many types of layers share.

#include "libcore/nn/config/keys.h"

#include <algorithm>
#include <utility>

#include "libcore/nn/augment/augment_type.h"
#include "libcore/nn/config/layer_type.h"

namespace dl::nn {

namespace key {
namespace {

Key of_layer(std::string_view name, Kind kind, std::string_view fallback,
             std::string_view doc, std::string_view range = {},
             std::string_view of = {},
             std::span<const std::string_view> values = {}) {
  return {"layer", "", name, kind, fallback, doc, range, of, values};
}

}  // namespace

Key integer(std::string_view name, std::string_view fallback,
            std::string_view doc, std::string_view range) {
  return of_layer(name, Kind::kInteger, fallback, doc, range);
}

Key number(std::string_view name, std::string_view fallback,
           std::string_view doc, std::string_view range) {
  return of_layer(name, Kind::kNumber, fallback, doc, range);
}

Key flag(std::string_view name, std::string_view fallback,
         std::string_view doc) {
  return of_layer(name, Kind::kBoolean, fallback, doc);
}

Key tuple(std::string_view name, std::string_view fallback,
          std::string_view doc, std::string_view of, std::string_view range) {
  return of_layer(name, Kind::kTuple, fallback, doc, range, of);
}

Key one_of(std::string_view name, std::string_view fallback,
           std::string_view doc, std::span<const std::string_view> values) {
  return of_layer(name, Kind::kOneOf, fallback, doc, {}, {}, values);
}

Key name(std::string_view name, std::string_view fallback,
         std::string_view doc) {
  return of_layer(name, Kind::kName, fallback, doc);
}

Key pair(std::string_view name, std::string_view fallback, std::string_view doc,
         std::string_view of, std::string_view range) {
  return of_layer(name, Kind::kPair, fallback, doc, range, of);
}

Key class_weights() {
  return of_layer("class_weights", Kind::kClassWeights, "(none)",
                  "Weight of each class, or of each output; else 1. By name, "
                  "classes that are not named have weight 1. \"balanced\" "
                  "gives rarer classes more weight: examples / classes / "
                  "examples of the class, in the training data.",
                  kAtLeast0);
}

Key numbers(std::string_view name, std::string_view fallback,
            std::string_view doc, std::string_view range) {
  return of_layer(name, Kind::kNumbers, fallback, doc, range);
}

Key activation(std::string_view fallback, std::string_view doc) {
  return of_layer("activation", Kind::kTagOrObject, fallback, doc, {},
                  "activation");
}

Key loss() {
  return of_layer("loss", Kind::kTagOrObject, "required",
                  "Loss that training minimizes.", {}, "loss");
}

Key units() { return integer("units", "required", "Outputs of the layer."); }

Key bias() { return flag("bias", "true", "Adds a bias to each output."); }

Key tied_to() {
  return name("tied_to", "(none)",
              "The layer whose weight it uses, transposed; else its own.");
}

}  // namespace key

namespace {

constexpr std::string_view kAsAtTop = "(as at the top)";

std::span<const std::string_view> type_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const LayerType* type : layer_types()) all.push_back(type->name);
    return all;
  }();
  return names;
}

}  // namespace

std::vector<std::pair<Trains, Key>> training_keys() {
  using key::of_layer;
  return {
      {Trains::kOthers, of_layer("updater", Kind::kObject, kAsAtTop,
                                 "The updater of this layer.", "", "updater")},
      {Trains::kWeights,
       of_layer("bias_updater", Kind::kObject, "(see dl-network(5), NETWORK)",
                "The updater of this layer's biases.", "", "updater")},
      {Trains::kWeights,
       of_layer("regularization", Kind::kObject, kAsAtTop,
                "Regularization of this layer.", "", "regularization")},
      {Trains::kWeights,
       of_layer("constraints", Kind::kObject, kAsAtTop,
                "Constraints on this layer's weights.", "", "constraints")},
      {Trains::kWeights,
       of_layer("weight_noise", Kind::kObject, kAsAtTop,
                "Noise added to this layer's weights in training.", "",
                "weight_noise")},
      {Trains::kWeights,
       of_layer("weight_init", Kind::kTagOrObject, kAsAtTop,
                "Initialization of this layer's weights.", "", "weight_init")},
      {Trains::kRecurrentWeights,
       of_layer("recurrent_init", Kind::kTagOrObject, "(the weight_init)",
                "Initialization of this layer's recurrent weights.", "",
                "weight_init")},
      {Trains::kWeights, of_layer("bias_init", Kind::kNumber, kAsAtTop,
                                  "Initial value of this layer's biases.")},
      {Trains::kOthers,
       of_layer("gradient_normalization", Kind::kOneOf, kAsAtTop,
                "Normalization or clipping of this layer's gradients.", "", "",
                names_of<GradientNormalization>())},
      {Trains::kOthers,
       of_layer("gradient_threshold", Kind::kNumber, kAsAtTop,
                "Limit of the clipping of this layer's gradients.", kOver0)},
      {Trains::kOthers,
       of_layer("frozen", Kind::kBoolean, "(false)",
                "Keeps its parameters and statistics as they are.")},
  };
}

namespace {

// Adds `key` of a type, or the type to the same key of others.
void add(std::vector<Key>& keys, const Key& key, std::string_view type) {
  auto at = std::ranges::find(keys, key);
  if (at == keys.end()) at = keys.insert(keys.end(), key);
  at->variants += at->variants.empty() ? "" : " ";
  at->variants += type;
}

}  // namespace

std::vector<Key> layer_keys() {
  using key::of_layer;
  std::vector<Key> keys;
  for (const LayerType* type : layer_types())
    for (const Key& key : type->keys) add(keys, key, type->name);
  for (const auto& [least, key] : training_keys())
    for (const LayerType* type : layer_types())
      if (type->trains >= least) add(keys, key, type->name);
  const Key of_all[] = {
      of_layer("type", Kind::kTag, "required", "Type of the layer.", "", "",
               type_names()),
      of_layer("name", Kind::kName, "(the type and a number)",
               "Names the layer in messages and its tensors in model files."),
      of_layer("time_distributed", Kind::kBoolean, "(false)",
               "Takes each step of a sequence as an example, with the same "
               "parameters; for types that do not read sequences themselves."),
  };
  keys.insert(keys.begin(), std::begin(of_all), std::end(of_all));
  return keys;
}

std::vector<Key> augment_keys() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const AugmentType* type : augment_types()) all.push_back(type->name);
    return all;
  }();
  std::vector<Key> keys;
  for (const AugmentType* type : augment_types())
    for (Key key : type->keys) {
      key.object = "augment";
      add(keys, key, type->name);
    }
  const Key tag = {"augment",   "", "type", Kind::kTag, "required",
                   "The step.", "", "",     names};
  keys.insert(keys.begin(), tag);
  return keys;
}

}  // namespace dl::nn
