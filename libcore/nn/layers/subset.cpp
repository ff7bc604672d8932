// A part of the input along an axis.

#include "libcore/base/error.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/axis.h"

namespace dl::nn::layers {
namespace {

using device::Strided;
using tensor::Shape;
using tensor::View;

class Subset final : public Layer {
 public:
  Subset(const LayerSite& site, Memory& memory)
      : device_(site.device),
        axis_(axis_of(*site.settings, site.input())),
        begin_(site.settings->integer("begin")) {
    if (site.output.steps && axis_ == 0)
      mask_ = memory.allocate({site.max_batch, site.output.shape[0]});
  }

  void forward(const Flow& flow, const Step&) override {
    device_->copy_strided(place(flow.y.shape, flow.x[0].shape, axis_ + 1),
                          flow.y, flow.x[0], false);
  }

  void backward(const Flow& flow, const Step&) override {
    const View dx = flow.dx[0];
    device_->fill(dx, 0);
    device_->copy_strided(place(flow.dy.shape, dx.shape, axis_ + 1).exchanged(),
                          dx, flow.dy, false);
  }

  // Mask of the remaining steps.
  View mask(const Flow& flow) override {
    const View all = flow.masks[0];
    if (mask_.empty() || all.empty()) return {};
    const View own = mask_.at(0, {all.shape[0], mask_.shape[1]});
    device_->copy_strided(place(own.shape, all.shape, 1), own, all, false);
    return own;
  }

 private:
  // Where a part lies in the whole.
  Strided place(const Shape& part, const Shape& whole, int axis) const {
    std::int64_t rows = 1, each = 1;
    for (int k = 0; k < axis; ++k) rows *= whole[k];
    for (int k = axis + 1; k < whole.rank(); ++k) each *= whole[k];
    Strided s;
    s.x_offset = begin_ * each;
    return s.over(rows, part[axis] * each, whole[axis] * each)
        .over(part[axis] * each, 1, 1);
  }

  device::Device* device_;
  int axis_;
  std::int64_t begin_;
  View mask_;
};

void check_subset(const LayerSettings& settings, const Complaint& complain) {
  if (settings.integer("begin") >= settings.integer("end"))
    complain("end", "want it larger than begin");
}

LayerShape infer_subset(const LayerSettings& settings,
                        std::span<const ValueSpec> inputs) {
  ValueSpec form = inputs[0];
  const int axis = axis_of(settings, form.shape);
  const std::int64_t end = settings.integer("end");
  if (end > form.shape[axis])
    throw Error{Code::kConfig, "end " + std::to_string(end) +
                                   " is beyond axis " + std::to_string(axis) +
                                   " of its input " + form.shape.to_string()};
  std::vector<std::int64_t> extents(form.shape.extents().begin(),
                                    form.shape.extents().end());
  extents[static_cast<std::size_t>(axis)] = end - settings.integer("begin");
  form.shape = Shape(std::span<const std::int64_t>(extents));
  return {.output = form,
          .buffers = {.keeps_inputs = false, .keeps_output = false},
          .mask = form.steps && axis == 0 ? MaskRule::kMade : MaskRule::kPassed,
          .step_by_step = axis > 0};
}

std::optional<Columns> columns(const LayerSettings& settings, int rank) {
  const std::int64_t axis = settings.integer("axis");
  if (axis != -1 && axis != rank - 1) return {};
  return Columns{settings.integer("begin"), settings.integer("end")};
}

}  // namespace

const LayerType& subset() {
  static const LayerType type{
      .name = "subset",
      .words = "The part of the input from *begin* to *end* along an axis.",
      .other_names = {"subsetvertex", "slice", "narrow"},
      .keys = {key::integer("axis", "-1",
                            "The axis of an example, from 0; -1 is the last.",
                            "-7..6"),
               key::integer("begin", "0", "The first index, from 0.",
                            "0..2147483646"),
               key::integer("end", "required",
                            "The index behind the last one.")},
      .check = check_subset,
      .columns = columns,
      .infer = infer_subset,
      .make = make<Subset>};
  return type;
}

}  // namespace dl::nn::layers
