// y = x w' + b, the linear part of dense and output.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_LINEAR_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_LINEAR_H_

#include <optional>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/fold.h"

namespace dl::nn::layers {

// LayerShape for settings with `units`, `bias`, `activation` and perhaps
// `tied_to`: weight and perhaps bias; a sequence is taken step by step, all
// else as one row.
LayerShape infer_linear(const LayerSettings& settings, const ValueSpec& input);

// x: [n, inputs] and y: [n, units] in any shape with these elements, n being
// examples or their steps; weight [units, inputs], or the [inputs, units] of
// another layer where `tied_to` is given.
class Linear {
 public:
  explicit Linear(const LayerSite& site);

  void forward(tensor::View y, tensor::View x, const Step& step);
  // Outside training: from now on forward() computes f of it, scaled before (an
  // empty scaling: not at all).  false: f is left to the caller.
  bool freeze(const Scaling& scaling, const device::ActivationSpec& f);
  // Shares what freeze() of `twin` made, which was true.
  void freeze_like(const Linear& twin);
  // x: of the last forward().  An empty dx is left out.
  void backward(tensor::View dx, tensor::View dy, tensor::View x,
                const Step& step);

 private:
  static tensor::View flat(tensor::View v, std::int64_t columns);
  // The arithmetic of forward() and backward().
  void product(tensor::View y, tensor::View x, device::Slice slice);
  void gradients(tensor::View dx, tensor::View dy, tensor::View x,
                 device::Slice slice);
  // For layers that lanes compute jointly: the rows of the whole mini-batch,
  // and this lane's into them and out of them.
  tensor::View all_rows(tensor::View room, std::int64_t columns,
                        const Step& step) const;
  void give(tensor::View all, tensor::View own, const Step& step);
  void take(tensor::View own, tensor::View all, const Step& step);
  tensor::View upright();  // [units, inputs]

  device::Device* device_;
  std::int64_t inputs_, units_;
  std::unique_ptr<device::Dense> product_;
  // The gradients are empty where the layer is frozen.
  tensor::View own_weight_, own_bias_, weight_gradient_, bias_gradient_;
  tensor::View weight_, bias_;  // its own, or folded_, or empty: frozen
  bool tied_, transposed_;      // own_weight_ is [inputs, units]; weight_
  std::unique_ptr<tensor::Buffer> upright_;  // own_weight_ of a tied layer
  Folded folded_;
  std::optional<Joint> joint_;
  std::int64_t rows_each_;  // of an example
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_LINEAR_H_
