// Rectified linear units whose slope below 0 is drawn anew for each number in
// training, and the mean otherwise (Xu et al. 2015).
//
// Slopes follow, as what dropout keeps, from the network's seed, the name of
// the mini-batch, the layer and the place of the example in the mini-batch.

#include <array>

#include "libcore/base/philox.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Rrelu final : public Layer {
 public:
  Rrelu(const LayerSite& site, Memory& memory)
      : site_(site),
        lower_(site.settings->number("lower")),
        upper_(site.settings->number("upper")) {
    if (!site.training) return;
    slopes_ = memory.allocate({site.max_batch * each()});
    drawn_.resize(tensor::DType::kF32, slopes_.shape);
  }

  void forward(const Flow& flow, const Step& step) override {
    if (step.training) {
      for (std::int64_t i = 0; i < site_.output.copies; ++i) draw(i, step);
      site_.device->prelu(flow.y, flow.x[0], slopes_of(flow.y));
    } else {
      site_.device->activate(
          {device::Activation::kLeakyRelu, (lower_ + upper_) / 2}, flow.y,
          flow.x[0]);
    }
  }

  void backward(const Flow& flow, const Step&) override {
    site_.device->prelu_gradient(flow.dx[0], {}, flow.dy, flow.x[0],
                                 slopes_of(flow.dy));
  }

 private:
  std::int64_t each() const { return site_.output.shape.elements(); }
  View slopes_of(View y) const { return slopes_.at(0, {y.elements()}); }

  // Number i of the mini-batch has word i % 4 of block i / 4; copies lie one
  // behind another.
  void draw(std::int64_t copy, const Step& step) {
    const auto layer = static_cast<std::uint64_t>(site_.index);
    const std::uint64_t stream = mix({step.at.batch, layer});
    const auto first =
        static_cast<std::uint64_t>((copy * step.total + step.first) * each());
    const View part =
        slopes_.at(copy * step.examples * each(), {step.examples * each()});
    drawn_.resize(tensor::DType::kF32, part.shape);
    const auto slopes = drawn_.as<float>();
    std::array<std::uint32_t, 4> words{};
    for (std::uint64_t i = 0; i < slopes.size(); ++i) {
      const std::uint64_t at = first + i;
      if (i == 0 || at % 4 == 0) words = philox(site_.seed, at / 4, stream);
      slopes[i] = static_cast<float>(lower_ + (upper_ - lower_) * 0x1p-32 *
                                                  words[at % 4]);
    }
    site_.device->upload(part, drawn_);
  }

  LayerSite site_;
  double lower_, upper_;
  View slopes_;
  tensor::Tensor drawn_;
};

void check_rrelu(const LayerSettings& settings, const Complaint& complain) {
  if (settings.number("lower") > settings.number("upper"))
    complain("lower", "is larger than upper");
}

LayerShape infer_rrelu(const LayerSettings&,
                       std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .flops = numbers_in(inputs[0].shape),
          .buffers = {.gradient_in_place = true, .keeps_output = false},
          .step_by_step = true};
}

}  // namespace

const LayerType& rrelu() {
  static const LayerType type{
      .name = "rrelu",
      .words =
          "x, or s x for x < 0.\n"
          "In training each number has its own s, drawn between *lower* and "
          "*upper*, which depends\n"
          "only on *seed*, the mini-batch and the layer; outside training s is "
          "their mean.",
      .keys = {key::number("lower", "0.125", "Smallest slope below 0.",
                           kAtLeast0),
               key::number("upper", "0.3333333333333333",
                           "The largest slope below 0.", kAtLeast0)},
      .check = check_rrelu,
      .infer = infer_rrelu,
      .make = make<Rrelu>};
  return type;
}

}  // namespace dl::nn::layers
