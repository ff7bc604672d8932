// Pooling over all steps of a sequence, or all places of an image.

#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn {

template <>
std::span<const std::string_view> names_of<device::StepPooling>() {
  static constexpr std::string_view kNames[] = {"max", "average", "sum",
                                                "pnorm"};
  return kNames;
}

namespace layers {
namespace {

using tensor::View;

class GlobalPool final : public Layer {
 public:
  GlobalPool(const LayerSite& site, Memory&)
      : device_(site.device),
        spec_{.kind = site.settings->one_of<device::StepPooling>("kind"),
              .p = site.settings->number("p")} {}

  void forward(const Flow& flow, const Step&) override {
    device_->pool_steps(spec_, flow.y, steps(flow.x[0]), flow.masks[0]);
  }
  void backward(const Flow& flow, const Step&) override {
    device_->pool_steps_gradient(spec_, steps(flow.dx[0]), flow.dy, flow.y,
                                 steps(flow.x[0]), flow.masks[0]);
  }

 private:
  static View steps(const View& x) {
    const std::int64_t n = x.shape[0], c = x.shape.back();
    return x.reshaped({n, x.elements() / n / c, c});
  }

  device::Device* device_;
  device::PoolSteps spec_;
};

LayerShape infer_global_pool(const LayerSettings&,
                             std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  if (input.shape.rank() < 2 || (input.steps && input.shape.rank() > 2))
    throw Error{Code::kConfig,
                "wants a sequence [steps, features] or an image [height, "
                "width, channels], its input is " +
                    input.shape.to_string() + steps_hint(input.shape)};
  return {.output = {{input.shape.back()}, false, input.copies},
          .flops = numbers_in(input.shape)};
}

}  // namespace

const LayerType& global_pool() {
  static const LayerType type{
      .name = "global_pool",
      .words =
          "Global pooling: one number for each index of the last dimension, "
          "over all steps of a\n"
          "sequence, or all positions of an image or volume.\n"
          "Masked steps do not count; if none is left, the result is 0.",
      .other_names = {"globalpooling", "globalmaxpooling1d",
                      "globalmaxpooling2d", "globalaveragepooling1d",
                      "globalaveragepooling2d", "adaptiveavgpool2d"},
      .keys = {key::one_of(
                   "kind", R"("max")",
                   "Function of the pool; pnorm is (sum of |x|^p)^(1/p).",
                   names_of<device::StepPooling>()),
               key::number("p", "2", "The exponent of pnorm.", "[1, inf)")},
      .reads_sequences = true,
      .infer = infer_global_pool,
      .make = make<GlobalPool>};
  return type;
}

}  // namespace layers
}  // namespace dl::nn
