// Convolution, bias and activation, whatever is convolved.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_CONVOLUTION_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_CONVOLUTION_H_

#include <memory>

#include "libcore/nn/layer.h"
#include "libcore/nn/layers/parts/fused_activation.h"

namespace dl::nn::layers {

// LayerShape of a layer with convolution_keys(): a weight [filters, ..,
// channels / groups] and perhaps a bias.
LayerShape infer_convolution(const LayerSettings& settings,
                             const ValueSpec& input, std::int64_t filters,
                             std::int64_t groups = 1);

// As many groups as channels, with so many filters each.
LayerShape infer_depthwise(const LayerSettings& settings,
                           const ValueSpec& input);
device::Conv2dSpec depthwise_spec(const LayerSettings& settings,
                                  const tensor::Shape& input);
Key depth_multiplier_key();

class Convolution final : public Layer {
 public:
  // Parameters of the site: weight and perhaps bias, as the kernel has them.
  Convolution(const LayerSite& site, Memory& memory,
              std::unique_ptr<device::Conv2d> kernel);

  void absorb(const Scaling& scaling) override { scaling_ = scaling; }
  void freeze() override;
  void freeze_like(Layer& twin) override;
  void forward(const Flow& flow, const Step& step) override;
  void backward(const Flow& flow, const Step& step) override;

 private:
  LayerSite site_;
  device::ActivationSpec f_;
  tensor::View weight_, bias_;  // the site's or folded_
  Scaling scaling_;             // of the batch normalization behind
  Folded folded_;
  bool frozen_ = false;  // the kernel has weights, bias and activation
  FusedActivation activation_;
  std::unique_ptr<device::Conv2d> kernel_;
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_CONVOLUTION_H_
