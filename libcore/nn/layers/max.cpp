// The largest, or smallest, of inputs.  The first that has it gets the
// gradient.

#include "libcore/nn/layers/parts/elementwise.h"

namespace dl::nn::layers {
namespace {

using tensor::Extreme;

template <Extreme kind>
class Choice final : public Layer {
 public:
  Choice(const LayerSite& site, Memory& memory)
      : device_(site.device),
        which_(memory.allocate(site.output.shape.with_first(site.max_batch),
                               tensor::DType::kI32)) {}

  void forward(const Flow& flow, const Step&) override {
    device_->extreme(flow.y, which_.at(0, flow.y.shape), flow.x, kind);
  }

  void backward(const Flow& flow, const Step&) override {
    for (std::size_t i = flow.dx.size(); i-- > 0;)
      if (!flow.dx[i].empty())
        device_->take_where(flow.dx[i], flow.dy, which_.at(0, flow.dy.shape),
                            static_cast<std::int32_t>(i));
  }

 private:
  device::Device* device_;
  tensor::View which_;
};

LayerShape infer_max(const LayerSettings&, std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {
      .output = form,
      .flops = numbers_in(form.shape) * static_cast<double>(inputs.size() - 1),
      .buffers = {.gradient_in_place = true,
                  .keeps_inputs = false,
                  .keeps_output = false},
      .step_by_step = true};
}

}  // namespace

const LayerType& max() {
  static const LayerType type{
      .name = "max",
      .words =
          "The largest of two or more inputs of one shape, number by "
          "number.",
      .other_names = {"maximum", "elementwisemax"},
      .inputs = {2, kAnyNumber},
      .infer = infer_max,
      .make = make<Choice<Extreme::kMax>>};
  return type;
}

const LayerType& min() {
  static const LayerType type{
      .name = "min",
      .words =
          "The smallest of two or more inputs of one shape, number by "
          "number.",
      .other_names = {"minimum", "elementwisemin"},
      .inputs = {2, kAnyNumber},
      .infer = infer_max,
      .make = make<Choice<Extreme::kMin>>};
  return type;
}

}  // namespace dl::nn::layers
