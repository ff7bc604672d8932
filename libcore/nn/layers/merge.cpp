// Inputs side by side along an axis.

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/axis.h"

namespace dl::nn::layers {
namespace {

using device::Strided;
using tensor::Shape;

std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t n = 1;
  for (const std::int64_t extent : extents) n *= extent;
  return n;
}

class Merge final : public Layer {
 public:
  Merge(const LayerSite& site, Memory&)
      : device_(site.device),
        axis_(axis_of(*site.settings, site.output.shape)) {}

  void forward(const Flow& flow, const Step&) override {
    std::int64_t at = 0;
    for (const tensor::View& x : flow.x) {
      device_->copy_strided(place(flow.y.shape, x.shape, at), flow.y, x, false);
      at += x.shape[axis_ + 1];
    }
  }

  void backward(const Flow& flow, const Step&) override {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < flow.dx.size(); ++i) {
      const Shape& part = flow.x[i].shape;
      if (!flow.dx[i].empty())
        device_->copy_strided(place(flow.dy.shape, part, at).exchanged(),
                              flow.dx[i], flow.dy, false);
      at += part[axis_ + 1];
    }
  }

 private:
  // Where a part [n, ...] lies in the whole, from `at` on along the axis.
  Strided place(const Shape& whole, const Shape& part, std::int64_t at) const {
    const auto axis = static_cast<std::size_t>(axis_) + 1;
    const std::int64_t rows = product(part.extents().first(axis)),
                       own = product(part.extents().subspan(axis)),
                       all = product(whole.extents().subspan(axis)),
                       each = product(part.extents().subspan(axis + 1));
    Strided s;
    s.y_offset = at * each;
    return s.over(rows, all, own).over(own, 1, 1);
  }

  device::Device* device_;
  int axis_;
};

LayerShape infer_merge(const LayerSettings& settings,
                       std::span<const ValueSpec> inputs) {
  ValueSpec form = inputs[0];
  const int axis = axis_of(settings, form.shape);
  std::vector<std::int64_t> extents(form.shape.extents().begin(),
                                    form.shape.extents().end());
  const auto along = static_cast<std::size_t>(axis);
  extents[along] = 0;
  for (const ValueSpec& input : inputs) {
    bool fits =
        input.shape.rank() == form.shape.rank() && input.copies == form.copies;
    for (int k = 0; fits && k < form.shape.rank(); ++k)
      fits = k == axis || input.shape[k] == form.shape[k];
    if (!fits)
      throw Error{Code::kConfig, "its inputs are " + form.shape.to_string() +
                                     " and " + input.shape.to_string() +
                                     "; want them to differ in axis " +
                                     std::to_string(axis) + " alone"};
    extents[along] += input.shape[axis];
    form.steps = form.steps || input.steps;
  }
  form.shape = Shape(std::span<const std::int64_t>(extents));
  return {.output = form,
          .buffers = {.keeps_inputs = false, .keeps_output = false},
          // One behind the other in time, they may be padded in between.
          .mask = form.steps && axis == 0 ? MaskRule::kNone : MaskRule::kPassed,
          .step_by_step = axis > 0};
}

}  // namespace

const LayerType& merge() {
  static const LayerType type{
      .name = "merge",
      .words =
          "Concatenates two or more inputs along an axis; only this extent may "
          "differ.\n"
          "Sequences concatenated in time, along axis 0, have no mask: all "
          "their steps count.",
      .other_names = {"concatenate", "concat", "cat"},
      .keys = {key::integer("axis", "-1",
                            "The axis of an example, from 0; -1 is the last.",
                            "-7..6")},
      .inputs = {2, kAnyNumber},
      .infer = infer_merge,
      .make = make<Merge>};
  return type;
}

}  // namespace dl::nn::layers
