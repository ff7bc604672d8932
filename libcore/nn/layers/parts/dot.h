// Products, distances and lengths of vectors: the last dimension of values.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_DOT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_DOT_H_

#include "libcore/nn/config/keys.h"
#include "libcore/nn/layers/parts/elementwise.h"
#include "libcore/nn/layers/parts/rows.h"

namespace dl::nn::layers {

using tensor::Shape;
using tensor::View;

class Dot final : public Layer {
 public:
  Dot(const LayerSite& site, Memory&) : device_(site.device) {}

  void forward(const Flow& flow, const Step&) override {
    device_->dot_rows(first_of(flow.y, flow.y.elements()), as_rows(flow.x[0]),
                      as_rows(flow.x[1]));
  }

  void backward(const Flow& flow, const Step&) override {
    const View dy = first_of(flow.dy, flow.dy.elements());
    for (std::size_t i = 0; i < 2; ++i)
      if (!flow.dx[i].empty())
        device_->scale_rows(as_rows(flow.dx[i]), as_rows(flow.x[1 - i]), dy,
                            false);
  }

 private:
  device::Device* device_;
};

class L2Distance final : public Layer {
 public:
  L2Distance(const LayerSite& site, Memory& memory)
      : device_(site.device),
        epsilon_(site.settings->number("epsilon")),
        difference_(memory.allocate(site.input().with_first(site.max_batch))) {
    const Shape rows = site.output.shape.with_first(site.max_batch);
    if (site.training) slopes_ = memory.allocate(rows);
  }

  void forward(const Flow& flow, const Step&) override {
    const View d = difference_.at(0, flow.x[0].shape),
               y = first_of(flow.y, flow.y.elements());
    device_->copy(d, flow.x[0]);
    device_->add(d, -1, flow.x[1]);
    device_->dot_rows(y, as_rows(d), as_rows(d));
    device_->square_root(y, y, epsilon_);
  }

  void backward(const Flow& flow, const Step&) override {
    const View d = difference_.at(0, flow.x[0].shape),
               slopes = first_of(slopes_, flow.dy.elements());
    device_->divide(slopes, flow.dy, flow.y);
    for (std::size_t i = 0; i < 2; ++i) {
      const View dx = flow.dx[i];
      if (dx.empty()) continue;
      device_->scale_rows(as_rows(dx), as_rows(d), slopes, false);
      if (i == 1) device_->scale(dx, -1);
    }
  }

 private:
  device::Device* device_;
  double epsilon_;
  View difference_, slopes_;
};

class L2Normalize final : public Layer {
 public:
  L2Normalize(const LayerSite& site, Memory& memory)
      : device_(site.device),
        epsilon_(site.settings->number("epsilon")),
        width_(site.output.shape.back()) {
    const std::int64_t rows =
        site.max_batch * (site.output.shape.elements() / width_);
    factors_ = memory.allocate({rows});
    if (site.training) along_ = memory.allocate({rows});
  }

  void forward(const Flow& flow, const Step&) override {
    const View x = as_rows(flow.x[0]), y = as_rows(flow.y),
               factors = first_of(factors_, y.shape[0]);
    device_->dot_rows(factors, x, x);
    device_->square_root(factors, factors, epsilon_);
    device_->reciprocal(factors, factors, 0);
    device_->scale_rows(y, x, factors, false);
  }

  // dx = (dy - y (y . dy)) factor
  void backward(const Flow& flow, const Step&) override {
    const View dx = as_rows(flow.dx[0]), dy = as_rows(flow.dy),
               y = as_rows(flow.y), along = first_of(along_, y.shape[0]);
    device_->dot_rows(along, y, dy);
    device_->scale(along, -1);
    if (dx.data != dy.data) device_->copy(dx, dy);
    device_->scale_rows(dx, y, along, true);
    device_->scale_rows(dx, dx, first_of(factors_, y.shape[0]), false);
  }

 private:
  device::Device* device_;
  double epsilon_;
  std::int64_t width_;
  View factors_, along_;
};

// One number for each vector.
inline ValueSpec of_vectors(ValueSpec form) {
  std::vector<std::int64_t> extents(form.shape.extents().begin(),
                                    form.shape.extents().end());
  extents.back() = 1;
  form.shape = Shape(std::span<const std::int64_t>(extents));
  return form;
}

inline LayerShape infer_dot(const LayerSettings&,
                            std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {.output = of_vectors(form),
          .flops = 2 * numbers_in(form.shape),
          .buffers = {.keeps_output = false},
          .step_by_step = true};
}

inline LayerShape infer_distance(const LayerSettings&,
                                 std::span<const ValueSpec> inputs) {
  const ValueSpec form = same_form(inputs);
  return {.output = of_vectors(form),
          .flops = 3 * numbers_in(form.shape),
          .buffers = {.keeps_inputs = false},
          .step_by_step = true};
}

inline LayerShape infer_normalize(const LayerSettings&,
                                  std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .flops = 3 * numbers_in(inputs[0].shape),
          .buffers = {.in_place = true,
                      .gradient_in_place = true,
                      .keeps_inputs = false},
          .step_by_step = true};
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_DOT_H_
