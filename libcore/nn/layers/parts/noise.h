// Noise in training: what is drawn follows, as what dropout keeps, from the
// network's seed, the name of the mini-batch, the layer and the place of the
// example in the mini-batch, never from the lane or host that computes it.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_NOISE_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_NOISE_H_

#include <cmath>

#include "libcore/base/philox.h"
#include "libcore/nn/config/keys.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

using device::Strided;
using tensor::View;

// `each` random numbers for an example.
class Noise : public Layer {
 public:
  Noise(const LayerSite& site, Memory& memory, std::int64_t each)
      : site_(site), each_(each) {
    if (site.training) drawn_ = memory.allocate({site.max_batch * each});
  }

 protected:
  device::Device& device() const { return *site_.device; }
  double setting(const char* key) const { return site_.settings->number(key); }

  // Copies lie one behind another, here as in the whole mini-batch.
  template <typename Draw>
  void draw(const Step& step, const Draw& draw) {
    const auto stream =
        mix({step.at.batch, static_cast<std::uint64_t>(site_.index)});
    const std::int64_t own = step.examples * each_;
    for (std::int64_t copy = 0; copy < site_.output.copies; ++copy)
      draw(
          drawn_.at(copy * own, {own}), stream,
          static_cast<std::uint64_t>((copy * step.total + step.first) * each_));
  }
  void draw_mask(const Step& step, double keep) {
    draw(step, [&](View part, std::uint64_t stream, std::uint64_t first) {
      device().dropout_mask(part, keep, site_.seed, stream, first);
    });
  }
  void draw_normal(const Step& step, double mean, double deviation) {
    draw(step, [&](View part, std::uint64_t stream, std::uint64_t first) {
      device().normal(part, mean, deviation, site_.seed, stream, first);
    });
  }
  void pass(View y, View x) {
    if (y.data != x.data) device().copy(y, x);
  }

  LayerSite site_;
  std::int64_t each_;
  View drawn_;
};

inline std::int64_t numbers_of(const LayerSite& site) {
  return site.output.shape.elements();
}

// Drops together what an example has at an index of the last dimension, or all
// of it.
template <bool whole>
class SharedDropout final : public Noise {
 public:
  SharedDropout(const LayerSite& site, Memory& memory)
      : Noise(site, memory, whole ? 1 : site.output.shape.back()) {
    if (site.training)
      mask_ = memory.allocate(site.output.shape.with_first(site.max_batch));
  }

  void forward(const Flow& flow, const Step& step) override {
    const View x = flow.x[0];
    if (!step.training) return pass(flow.y, x);
    draw_mask(step, 1 - setting("rate"));
    const View mask = mask_.at(0, x.shape);
    const std::int64_t n = x.shape[0], positions = numbers_of(site_) / each_;
    Strided s;
    s.over(n, positions * each_, each_)
        .over(positions, each_, 0)
        .over(each_, 1, 1);
    device().copy_strided(s, mask, drawn_.at(0, {n * each_}), false);
    device().multiply(flow.y, x, mask);
  }

  void backward(const Flow& flow, const Step&) override {
    device().multiply(flow.dx[0], flow.dy, mask_.at(0, flow.dy.shape));
  }

 private:
  View mask_;
};

// y = mask x + offset, where what is dropped becomes what selu gives far below
// 0, and mean and variance stay (Klambauer et al. 2017).
class AlphaDropout final : public Noise {
 public:
  AlphaDropout(const LayerSite& site, Memory& memory)
      : Noise(site, memory, numbers_of(site)) {
    if (site.training) offset_ = memory.allocate(drawn_.shape);
  }

  void forward(const Flow& flow, const Step& step) override {
    constexpr double kFar = -1.7580993408473766;
    const View x = flow.x[0];
    if (!step.training) return pass(flow.y, x);
    const double rate = setting("rate"), keep = 1 - rate;
    const double a = 1 / std::sqrt(keep + kFar * kFar * keep * rate);
    draw_mask(step, keep);  // 1 / keep or 0
    const View mask = drawn_.at(0, x.shape), offset = offset_.at(0, x.shape);
    device().fill(offset, a * kFar - a * kFar * rate);
    device().add(offset, -a * kFar * keep, mask);
    device().scale(mask, a * keep);
    device().multiply(flow.y, x, mask);
    device().add(flow.y, 1, offset);
  }

  void backward(const Flow& flow, const Step&) override {
    device().multiply(flow.dx[0], flow.dy, drawn_.at(0, flow.dy.shape));
  }

 private:
  View offset_;
};

class GaussianDropout final : public Noise {
 public:
  GaussianDropout(const LayerSite& site, Memory& memory)
      : Noise(site, memory, numbers_of(site)) {}

  void forward(const Flow& flow, const Step& step) override {
    const View x = flow.x[0];
    if (!step.training) return pass(flow.y, x);
    const double rate = setting("rate");
    draw_normal(step, 1, std::sqrt(rate / (1 - rate)));
    device().multiply(flow.y, x, drawn_.at(0, x.shape));
  }

  void backward(const Flow& flow, const Step&) override {
    device().multiply(flow.dx[0], flow.dy, drawn_.at(0, flow.dy.shape));
  }
};

class GaussianNoise final : public Noise {
 public:
  GaussianNoise(const LayerSite& site, Memory& memory)
      : Noise(site, memory, numbers_of(site)) {}

  void forward(const Flow& flow, const Step& step) override {
    pass(flow.y, flow.x[0]);
    if (!step.training) return;
    draw_normal(step, 0, setting("deviation"));
    device().add(flow.y, 1, drawn_.at(0, flow.y.shape));
  }

  void backward(const Flow&, const Step&) override {}  // is passed on
};

template <bool adds>
LayerShape infer_noise(const LayerSettings&,
                       std::span<const ValueSpec> inputs) {
  return {.output = inputs[0],
          .buffers = {.in_place = true,
                      .gradient_in_place = !adds,
                      .keeps_inputs = false,
                      .keeps_output = false,
                      .passes_gradient = adds},
          .step_by_step = true};
}

inline Key rate(std::string_view doc) {
  return key::number("rate", "0.5", doc, kShare);
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_NOISE_H_
