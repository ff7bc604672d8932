// Adds to each step what says where it is.

#include <cmath>

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/steps_hint.h"

namespace dl::nn::layers {
namespace {

using device::Strided;
using tensor::View;

// Sines and cosines of wavelengths 2 pi to 2 pi 10000 in turn.
void fill_waves(device::Device& device, View table) {
  tensor::Tensor host(tensor::DType::kF64, table.shape);
  const auto all = host.as<double>();
  const std::int64_t width = table.shape[1];
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t step = static_cast<std::int64_t>(i) / width,
                       at = static_cast<std::int64_t>(i) % width;
    const double power =
        static_cast<double>(at - at % 2) / static_cast<double>(width);
    const double angle = static_cast<double>(step) / std::pow(10000.0, power);
    all[i] = at % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }
  device.upload(table, host);
}

class PositionalEmbedding final : public Layer {
 public:
  PositionalEmbedding(const LayerSite& site, Memory& memory)
      : device_(site.device),
        table_(site.parameter(0)),
        gradient_(site.gradient(0)) {
    if (!table_.empty()) return;
    table_ = memory.allocate(site.input());
    fill_waves(*device_, table_);
  }

  void forward(const Flow& flow, const Step&) override {
    if (flow.y.data != flow.x[0].data) device_->copy(flow.y, flow.x[0]);
    device_->copy_strided(over(flow.y), flow.y, table_, true);
  }

  void backward(const Flow& flow, const Step&) override {
    if (!gradient_.empty()) {
      device_->fill(gradient_, 0);
      device_->copy_strided(over(flow.dy).exchanged(), gradient_, flow.dy,
                            true);
    }
    const View dx = flow.dx[0];
    if (!dx.empty() && dx.data != flow.dy.data) device_->copy(dx, flow.dy);
  }

 private:
  Strided over(View y) const {
    const std::int64_t each = table_.elements();
    Strided s;
    return s.over(y.elements() / each, each, 0).over(each, 1, 1);
  }

  device::Device* device_;
  View table_, gradient_;
};

LayerShape infer_positional_embedding(const LayerSettings& settings,
                                      std::span<const ValueSpec> inputs) {
  const tensor::Shape& shape = inputs[0].shape;
  if (shape.rank() != 2)
    throw Error{Code::kConfig,
                "wants a sequence [steps, features], its input is " +
                    shape.to_string() + steps_hint(shape)};
  LayerShape plan{.output = inputs[0],
                  .flops = numbers_in(shape),
                  .buffers = {.in_place = true,
                              .gradient_in_place = true,
                              .keeps_inputs = false,
                              .keeps_output = false}};
  if (!settings.flag("sinusoidal"))
    plan.parameters.push_back({.name = "weight",
                               .shape = shape,
                               .fan_in = shape[0],
                               .fan_out = shape[1]});
  return plan;
}

}  // namespace

const LayerType& positional_embedding() {
  static const LayerType type{
      .name = "positional_embedding",
      .words =
          "Adds a row of a table [steps, features] to each step of a "
          "sequence.\n"
          "The table is learnt, or, *sinusoidal*, that of Vaswani et al. "
          "(2017):\n"
          "column 2 i of step t has sin(t / 10000^(2 i / features)), the next "
          "column the cosine.",
      .other_names = {"positionembedding", "positionalencoding"},
      .keys = {key::flag("sinusoidal", "false",
                         "Adds fixed waves; nothing is learnt.")},
      .trains = Trains::kWeights,
      .reads_sequences = true,
      .infer = infer_positional_embedding,
      .make = make<PositionalEmbedding>};
  return type;
}

}  // namespace dl::nn::layers
