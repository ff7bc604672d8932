// Activations, as nodes of ONNX.

#include <cmath>
#include <numbers>

#include "libcore/base/error.h"
#include "libcore/convert/export/onnx/layer.h"

namespace dl::convert {
namespace {

using device::Activation;

std::string gelu(OnnxGraph& g, const std::string& x, bool approximate) {
  std::string phi;
  if (approximate) {
    const std::string cubed = g.node("Mul", {g.node("Mul", {x, x}), x});
    const std::string sum =
        g.node("Add", {x, g.node("Mul", {cubed, g.real(0.044715)})});
    phi =
        g.node("Tanh",
               {g.node("Mul", {sum, g.real(std::sqrt(2 / std::numbers::pi))})});
  } else {
    phi = g.node("Erf", {g.node("Mul", {x, g.real(std::numbers::sqrt2 / 2)})});
  }
  const std::string half = g.node("Mul", {x, g.real(0.5)});
  return g.node("Mul", {half, g.node("Add", {phi, g.real(1)})});
}

std::string capped_relu(OnnxGraph& g, const device::ActivationSpec& f,
                        const std::string& x) {
  const std::string threshold = g.real(f.threshold);
  const std::string below =
      g.node("Mul", {g.node("Sub", {x, threshold}), g.real(f.alpha)});
  const std::string cut = g.node("Min", {x, g.real(f.limit)});
  return g.node("Where", {g.node("Less", {x, threshold}), below, cut});
}

std::string rational_tanh(OnnxGraph& g, const std::string& x) {
  const std::string v = g.node("Mul", {g.node("Abs", {x}), g.real(2.0 / 3)});
  const std::string squared = g.node("Mul", {v, v});
  const std::string fourth =
      g.node("Mul", {g.node("Mul", {squared, squared}), g.real(1.41645)});
  const std::string bottom = g.node("Sum", {g.real(1), v, squared, fourth});
  const std::string size =
      g.node("Sub", {g.real(1), g.node("Reciprocal", {bottom})});
  return g.node("Mul",
                {g.node("Mul", {g.node("Sign", {x}), size}), g.real(1.7159)});
}

std::string times_function(OnnxGraph& g, const std::string& x,
                           const std::string& y) {
  return g.node("Mul", {x, y});
}

}  // namespace

std::string onnx_activation(OnnxGraph& g, const device::ActivationSpec& f,
                            const std::string& x, std::int64_t channels) {
  const OnnxAttributes axis{{"axis", channels}}, alpha{{"alpha", f.alpha}};
  switch (f.kind) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return g.node("Relu", {x});
    case Activation::kLeakyRelu:
      return g.node("LeakyRelu", {x}, alpha);
    case Activation::kElu:
      return g.node("Elu", {x}, alpha);
    case Activation::kGelu:
      return gelu(g, x, f.approximate);
    case Activation::kSigmoid:
      return g.node("Sigmoid", {x});
    case Activation::kTanh:
      return g.node("Tanh", {x});
    case Activation::kSoftplus:
      return g.node("Softplus", {x});
    case Activation::kSoftmax:
      return g.node("Softmax", {x}, axis);
    case Activation::kLogSoftmax:
      return g.node("LogSoftmax", {x}, axis);
    case Activation::kRelu6:
      return g.node("Clip", {x, g.real(0), g.real(6)});
    case Activation::kCappedRelu:
      return capped_relu(g, f, x);
    case Activation::kThresholdedRelu:
      return g.node("ThresholdedRelu", {x}, {{"alpha", f.threshold}});
    case Activation::kSelu:
      return g.node("Selu", {x});
    case Activation::kSwish:
      return times_function(
          g, x,
          g.node("Sigmoid",
                 {f.alpha == 1 ? x : g.node("Mul", {x, g.real(f.alpha)})}));
    case Activation::kMish:
      return times_function(g, x, g.node("Tanh", {g.node("Softplus", {x})}));
    case Activation::kSoftsign:
      return g.node("Softsign", {x});
    case Activation::kCube:
      return times_function(g, x, g.node("Mul", {x, x}));
    case Activation::kHardSigmoid:
      return g.node("HardSigmoid", {x}, {{"alpha", f.alpha}, {"beta", 0.5}});
    case Activation::kHardTanh:
      return g.node("Clip", {x, g.real(-1), g.real(1)});
    case Activation::kRationalTanh:
      return rational_tanh(g, x);
    case Activation::kRectifiedTanh:
      return g.node("Relu", {g.node("Tanh", {x})});
    case Activation::kExp:
      return g.node("Exp", {x});
  }
  throw Error{Code::kBug, "internal error: an activation that ONNX lacks"};
}

void give_activated(OnnxLayer& layer, const std::string& y, bool first) {
  const auto f = layer.settings.activation("activation");
  const std::string made = onnx_activation(layer.graph, f, y, first ? 1 : -1);
  first ? layer.give_first(made) : layer.give(made);
}

}  // namespace dl::convert
