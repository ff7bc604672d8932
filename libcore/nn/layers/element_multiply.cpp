// y = w x + b, number by number of the last dimension: a batch normalization
// about 0 with variance 1.

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class ElementMultiply final : public Layer {
 public:
  ElementMultiply(const LayerSite& site, Memory& memory)
      : site_(site),
        zero_(memory.allocate({site.output.shape.back()})),
        spec_{.mean = zero_,
              .variance = memory.allocate({site.output.shape.back()}),
              .gamma = site.parameters[0],
              .beta = site.parameters[1],
              .epsilon = 0} {
    site.device->fill(spec_.variance, 1);
  }

  void forward(const Flow& flow, const Step&) override {
    site_.device->batch_norm(spec_, flow.y, flow.x[0]);
  }

  void backward(const Flow& flow, const Step&) override {
    device::Device& device = *site_.device;
    device.batch_norm_sums(spec_, site_.gradients[0], site_.gradients[1],
                           flow.dy, flow.x[0]);
    if (!flow.dx[0].empty())
      device.batch_norm_gradient(spec_, flow.dx[0], flow.dy, flow.x[0], zero_,
                                 zero_, 1);
  }

 private:
  LayerSite site_;
  View zero_;
  device::BatchNorm spec_;
};

LayerShape infer_element_multiply(const LayerSettings&,
                                  std::span<const ValueSpec> inputs) {
  const tensor::Shape each{inputs[0].shape.back()};
  return {.output = inputs[0],
          .parameters = {{.name = "weight",
                          .shape = each,
                          .role = Role::kOther,
                          .start = 1},
                         {.name = "bias", .shape = each, .role = Role::kOther}},
          .flops = 2 * numbers_in(inputs[0].shape),
          .buffers = {.in_place = true, .keeps_output = false},
          .step_by_step = true};
}

}  // namespace

const LayerType& element_multiply() {
  static const LayerType type{
      .name = "element_multiply",
      .words =
          "y = w x + b, with a w and a b for each index of the last "
          "dimension.\n"
          "w starts at 1, b at 0.",
      .other_names = {"elementwisemultiplication"},
      .trains = Trains::kOthers,
      .infer = infer_element_multiply,
      .make = make<ElementMultiply>};
  return type;
}

}  // namespace dl::nn::layers
