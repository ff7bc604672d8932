// Recurrent layers, in one direction or in both: a cell of the device for each.
//
// The two read the same input; their outputs lie side by side (concat), or are
// kept apart and joined number by number.

#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"

namespace dl::nn {
namespace {

using tensor::View;

class Recurrent final : public Layer {
 public:
  Recurrent(const LayerSite& site, Memory& memory)
      : site_(site), merge_(site.config->bidirectional) {
    const bool both = merge_ != Bidirectional::kNone;
    for (int i = 0; i < (both ? 2 : 1); ++i) directions_.push_back(make(i));
    if (!both || merge_ == Bidirectional::kConcat) return;
    for (Direction& direction : directions_)
      direction.y = memory.allocate(site.output.with_first(site.max_batch));
  }

  void freeze(Layer*) override {
    for (Direction& d : directions_) d.cell->freeze(d.weights);
  }

  View forward(View x, const Step& step) override {
    x_ = x;
    const View y = site_.result_of(step.examples);
    for (Direction& d : directions_)
      d.cell->forward(of(d, y), x, step.mask, d.weights);
    join(y);
    return y;
  }

  View backward(View dx, View dy, const Step& step) override {
    part(dy);
    bool add = false;
    for (Direction& d : directions_) {
      d.cell->backward(dx, add,
                       merge_ == Bidirectional::kMultiply ? of(d, dy) : dy, x_,
                       step.mask, d.weights, d.gradient);
      add = true;
    }
    return dx;
  }

 private:
  struct Direction {
    std::unique_ptr<tensor::Recurrent> cell;
    tensor::RecurrentWeights weights, gradient;
    View y;  // its own output; empty where it goes into the layer's
  };

  Direction make(int i) const {
    tensor::RecurrentSpec spec = recurrent_spec(*site_.config, site_.input);
    spec.truncate = site_.truncate;
    spec.reverse = i == 1;
    if (merge_ == Bidirectional::kConcat) {
      spec.row = 2 * spec.units;
      spec.column = i * spec.units;
    }
    Direction d;
    d.cell = site_.device->recurrent(spec, site_.max_batch);
    d.weights = weights_of(site_.parameters, i);
    if (site_.training) d.gradient = weights_of(site_.gradients, i);
    return d;
  }

  // In the order of the layout: weight, recurrent_weight and maybe bias, of
  // each direction.
  tensor::RecurrentWeights weights_of(const std::vector<View>& views,
                                      int direction) const {
    const std::size_t each = site_.config->bias ? 3 : 2;
    const View* first = &views.at(static_cast<std::size_t>(direction) * each);
    return {first[0], first[1], site_.config->bias ? first[2] : View{}};
  }

  // Where a direction's output, or its gradient, goes.
  static View of(const Direction& d, View y) {
    return d.y.empty() ? y : d.y.at(0, y.shape);
  }

  void join(View y) {
    if (directions_[0].y.empty()) return;
    const View forward = of(directions_[0], y),
               backward = of(directions_[1], y);
    if (merge_ == Bidirectional::kMultiply)
      return site_.device->multiply(y, forward, backward);
    site_.device->copy(y, forward);
    site_.device->add(y, 1, backward);
    if (merge_ == Bidirectional::kAverage) site_.device->scale(y, 0.5);
  }

  // dy becomes what each direction's output gets, or, where that differs,
  // their outputs do.
  void part(View dy) {
    if (merge_ == Bidirectional::kAverage) site_.device->scale(dy, 0.5);
    if (merge_ != Bidirectional::kMultiply) return;
    const View forward = of(directions_[0], dy),
               backward = of(directions_[1], dy);
    site_.device->multiply(forward, forward, dy);
    site_.device->multiply(backward, backward, dy);
    std::swap(directions_[0].y, directions_[1].y);
  }

  LayerSite site_;
  Bidirectional merge_;
  std::vector<Direction> directions_;
  View x_;
};

}  // namespace

std::unique_ptr<Layer> make_recurrent(const LayerSite& site, Memory& memory) {
  return std::make_unique<Recurrent>(site, memory);
}

}  // namespace dl::nn
