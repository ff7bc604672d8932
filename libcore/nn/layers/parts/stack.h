// Inputs one behind the other along the mini-batch, so that layers behind treat
// them alike, with the same parameters; and one of them again.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_STACK_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_STACK_H_

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using tensor::Shape;
using tensor::View;

class Stack final : public Layer {
 public:
  Stack(const LayerSite& site, Memory& memory) : site_(site) {
    std::int64_t most = 0;
    for (const ValueSpec& form : site.inputs) most += form.copies;
    most *= site.max_batch / site.inputs[0].copies;
    if (site.output.steps)
      mask_ = memory.allocate({most, site.output.shape[0]});
  }

  void forward(const Flow& flow, const Step&) override {
    std::int64_t at = 0;
    for (const View& x : flow.x) {
      site_.device->copy(flow.y.at(at, x.shape), x);
      at += x.elements();
    }
  }

  void backward(const Flow& flow, const Step&) override {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < flow.x.size(); ++i) {
      const View dx = flow.dx[i];
      if (!dx.empty()) site_.device->copy(dx, flow.dy.at(at, dx.shape));
      at += flow.x[i].elements();
    }
  }

  // Masks of the inputs; of one without, all steps are real.
  View mask(const Flow& flow) override {
    if (mask_.empty()) return {};
    bool any = false;
    for (const View& mask : flow.masks) any = any || !mask.empty();
    if (!any) return {};
    const std::int64_t steps = mask_.shape[1];
    std::int64_t at = 0;
    for (std::size_t i = 0; i < flow.x.size(); ++i) {
      const Shape rows{flow.x[i].shape[0], steps};
      const View part = mask_.at(at, rows);
      if (flow.masks[i].empty())
        site_.device->fill(part, 1);
      else
        site_.device->copy(part, flow.masks[i]);
      at += rows.elements();
    }
    return mask_.at(0, {at / steps, steps});
  }

 private:
  LayerSite site_;
  View mask_;
};

inline LayerShape infer_stack(const LayerSettings&,
                              std::span<const ValueSpec> inputs) {
  ValueSpec form = inputs[0];
  form.copies = 0;
  for (const ValueSpec& input : inputs) {
    if (input.shape != form.shape)
      throw Error{Code::kConfig, "its inputs are " + form.shape.to_string() +
                                     " and " + input.shape.to_string() +
                                     "; want inputs of one shape"};
    form.steps = form.steps || input.steps;
    form.copies += input.copies;
  }
  if (form.copies > 65535)
    throw Error{Code::kConfig, "stacks more than 65535 values"};
  return {.output = form,
          .buffers = {.keeps_inputs = false, .keeps_output = false},
          .mask = form.steps ? MaskRule::kMade : MaskRule::kNone,
          .step_by_step = true};
}

inline std::int64_t parts_of(const LayerSettings& settings,
                             const ValueSpec& input) {
  return settings.has("of") ? settings.integer("of") : input.copies;
}

class Unstack final : public Layer {
 public:
  Unstack(const LayerSite& site, Memory&)
      : device_(site.device),
        index_(site.settings->integer("index")),
        of_(parts_of(*site.settings, site.inputs[0])) {}

  void forward(const Flow& flow, const Step&) override {
    device_->copy(flow.y,
                  flow.x[0].at(index_ * flow.y.elements(), flow.y.shape));
  }

  void backward(const Flow& flow, const Step&) override {
    const View dx = flow.dx[0], dy = flow.dy;
    device_->fill(dx, 0);
    device_->copy(dx.at(index_ * dy.elements(), dy.shape), dy);
  }

  View mask(const Flow& flow) override {
    const View all = flow.masks[0];
    if (all.empty()) return {};
    const Shape own{all.shape[0] / of_, all.shape[1]};
    return all.at(index_ * own.elements(), own);
  }

 private:
  device::Device* device_;
  std::int64_t index_, of_;
};

inline LayerShape infer_unstack(const LayerSettings& settings,
                                std::span<const ValueSpec> inputs) {
  ValueSpec form = inputs[0];
  const std::int64_t of = parts_of(settings, form),
                     index = settings.integer("index");
  if (form.copies % of != 0)
    throw Error{Code::kConfig,
                "its input is a stack of " + std::to_string(form.copies) +
                    ", which are not " + std::to_string(of) + " parts"};
  if (index >= of)
    throw Error{Code::kConfig, "index " + std::to_string(index) +
                                   " of a stack of " + std::to_string(of) +
                                   "; the first is 0"};
  form.copies /= of;
  return {.output = form,
          .buffers = {.keeps_inputs = false, .keeps_output = false},
          .mask = form.steps ? MaskRule::kMade : MaskRule::kNone,
          .step_by_step = true};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_STACK_H_
