// Activations: those that Keras has by a name are a word of the layer before
// them, others are layers of their own.

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

using device::Activation;
using device::ActivationSpec;

// "" of what has none that is the same in all versions that read the format.
std::string name_in_keras(const ActivationSpec& f, KerasFormat format) {
  const bool archive = format == KerasFormat::kArchive;
  switch (f.kind) {
    case Activation::kIdentity:
      return "linear";
    case Activation::kExp:
      return "exponential";
    case Activation::kElu:
      return f.alpha == 1 ? "elu" : "";
    case Activation::kLeakyRelu:
      return f.alpha == 0.2 && archive ? "leaky_relu" : "";
    case Activation::kSwish:
      return f.alpha == 1 ? "swish" : "";
    case Activation::kGelu:
      return f.approximate ? "" : "gelu";
    case Activation::kHardSigmoid:  // Keras 2 has a slope of 0.2
      return f.alpha == 1.0 / 6 && archive ? "hard_sigmoid" : "";
    case Activation::kHardTanh:
      return archive ? "hard_tanh" : "";
    case Activation::kRelu:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kSoftplus:
    case Activation::kSoftmax:
    case Activation::kRelu6:
    case Activation::kSelu:
    case Activation::kMish:
    case Activation::kSoftsign:
    case Activation::kLogSoftmax:
      return std::string(nn::name_of(f.kind));
    default:
      return "";
  }
}

Json rescaling(double scale, double offset) {
  return {{"scale", scale}, {"offset", offset}};
}

Json capped(const ActivationSpec& f) {
  Json config{{"negative_slope", f.alpha}, {"threshold", f.threshold}};
  if (f.limit < 3e38) config["max_value"] = f.limit;
  return config;
}

// As layers behind one another; false of what Keras has none for.
bool add_layers(KerasLayer& l, const ActivationSpec& f,
                const tensor::Shape& shape) {
  switch (f.kind) {
    case Activation::kLeakyRelu:
      // Keras 3 takes its old name as well.
      l.add("LeakyReLU",
            {{l.format == KerasFormat::kHdf5 ? "alpha" : "negative_slope",
              f.alpha}},
            shape);
      return true;
    case Activation::kElu:
      l.add("ELU", {{"alpha", f.alpha}}, shape);
      return true;
    case Activation::kCappedRelu:
      l.add("ReLU", capped(f), shape);
      return true;
    case Activation::kThresholdedRelu:
      l.add("ReLU", {{"threshold", f.threshold}}, shape);
      return true;
    case Activation::kHardSigmoid:
      l.add("Rescaling", rescaling(f.alpha, 0.5), shape);
      l.add("ReLU", {{"max_value", 1.0}}, shape);
      return true;
    case Activation::kRectifiedTanh:
      l.add("Activation", {{"activation", "tanh"}}, shape);
      l.add("ReLU", Json::object(), shape);
      return true;
    case Activation::kCube:
      l.last_of_same("Multiply", 3);
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string KerasLayer::activation(const char* key) const {
  const std::string name = name_in_keras(settings.activation(key), format);
  if (name.empty())
    refuse("\"" + std::string(key) + "\": " + dump_json(settings.at(key)) +
           " is no activation that Keras has by a name");
  return name;
}

void KerasLayer::activate(const ActivationSpec& f) {
  const std::string name = name_in_keras(f, format);
  if (!name.empty()) return last("Activation", {{"activation", name}});
  if (!add_layers(*this, f, output()))
    refuse("\"activation\": " + dump_json(settings.at("activation")) +
           " is none that Keras has" +
           (format == KerasFormat::kHdf5 && f.kind == Activation::kHardTanh
                ? " in all versions; a .keras file can say it"
                : ""));
}

void KerasLayer::activated(const std::string& type, Json settings_of_it,
                           Weights weights) {
  const ActivationSpec f = settings.activation("activation");
  const std::string name = name_in_keras(f, format);
  if (!name.empty()) settings_of_it["activation"] = name;
  add(type, std::move(settings_of_it), output(), std::move(weights));
  if (name.empty()) activate(f);
}

}  // namespace dl::convert
