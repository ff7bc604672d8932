// Rows of a table by number: what a token means.

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/rows.h"

namespace dl::nn::layers {
namespace {

using tensor::View;

class Embedding final : public Layer {
 public:
  Embedding(const LayerSite& site, Memory& memory)
      : site_(site), masks_(site.settings->flag("mask_zero")) {
    if (!masks_) return;
    const std::int64_t rows = site.parameters[0].shape[0];
    real_ = memory.allocate({rows, 1});
    site.device->fill(real_, 1);
    site.device->fill(real_.at(0, {1}), 0);
    mask_ = memory.allocate(site.input().with_first(site.max_batch));
  }

  void forward(const Flow& flow, const Step&) override {
    const View index = first_of(flow.x[0], flow.x[0].elements());
    site_.device->gather(as_rows(flow.y), site_.parameters[0], index);
    if (!masks_) return;
    made_ = mask_.at(0, flow.x[0].shape);
    site_.device->gather(as_rows(made_, 1), real_, index);
    const View before = flow.masks[0];
    if (!before.empty()) site_.device->multiply(made_, made_, before);
  }

  void backward(const Flow& flow, const Step&) override {
    site_.device->fill(site_.gradients[0], 0);
    site_.device->scatter_add(site_.gradients[0], as_rows(flow.dy),
                              first_of(flow.x[0], flow.x[0].elements()), -1);
  }

  View mask(const Flow&) override { return made_; }

 private:
  LayerSite site_;
  bool masks_;
  View real_;  // 0 for row 0, 1 for others
  View mask_, made_;
};

LayerShape infer_embedding(const LayerSettings& settings,
                           std::span<const ValueSpec> inputs) {
  const ValueSpec& input = inputs[0];
  if (!input.tokens)
    throw Error{Code::kConfig,
                "reads token numbers, which only an input of the network has"};
  const bool masks = settings.flag("mask_zero");
  if (masks && !input.steps)
    throw Error{Code::kConfig,
                "mask_zero is for an input [steps], its input is " +
                    input.shape.to_string()};
  if (input.shape.rank() + 1 >= tensor::Shape::kMaxRank)
    throw Error{Code::kConfig, "its input " + input.shape.to_string() +
                                   " has too many dimensions"};
  const std::int64_t rows = settings.integer("rows"),
                     units = settings.integer("units");
  std::vector<std::int64_t> extents(input.shape.extents().begin(),
                                    input.shape.extents().end());
  extents.push_back(units);
  return {.output = {tensor::Shape(std::span<const std::int64_t>(extents)),
                     input.steps, input.copies},
          .parameters = {{.name = "weight",
                          .shape = checked_shape({rows, units}, "weight"),
                          .fan_in = rows,
                          .fan_out = units}},
          .buffers = {.keeps_output = false},
          .mask = masks ? MaskRule::kMade : MaskRule::kPassed,
          .step_by_step = true};
}

std::int64_t known(const LayerSettings& settings) {
  return settings.integer("rows");
}

}  // namespace

const LayerType& embedding() {
  static const LayerType type{
      .name = "embedding",
      .words =
          "Looks up rows of a learnt table [rows, units] by the integers of "
          "its input, from 0.\n"
          "Such an input of the network, [steps], is a sequence, which may "
          "have a mask; only\n"
          "embeddings may read it, and it is not normalized.",
      .other_names = {"embeddingsequence", "embeddingsequencelayer"},
      .keys = {key::integer("rows", "required",
                            "Number of rows: one more than the largest index."),
               key::units(),
               key::flag("mask_zero", "false",
                         "Steps of number 0 are padding.")},
      .trains = Trains::kWeights,
      .tokens = known,
      .infer = infer_embedding,
      .make = make<Embedding>};
  return type;
}

}  // namespace dl::nn::layers
