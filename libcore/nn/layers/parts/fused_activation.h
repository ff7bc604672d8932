// The activation at the end of dense, conv2d and output: in place, with the
// input kept for the functions whose gradient needs it.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_FUSED_ACTIVATION_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_FUSED_ACTIVATION_H_

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/config/settings.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// The buffers of a layer that ends in the `activation` of the settings.
BufferPolicy activated(const LayerSettings& settings);
// Whether that is none: such a layer absorbs a scaling.
bool is_linear(const LayerSettings& settings);

// Operations of the `activation` of the settings on such an output.
double activation_flops(const LayerSettings& settings,
                        const tensor::Shape& output);

class FusedActivation {
 public:
  FusedActivation(const LayerSite& site, const device::ActivationSpec& f,
                  Memory& memory);

  // Whether an element of y alone decides what happens to it, forward and back.
  bool goes_by_output() const;
  // y = f(y)
  void forward(tensor::View y, bool training);
  // dy becomes the gradient before the activation; y as forward() left it.
  // true: `sums`, unless it is empty, is the sum of its rows.
  bool backward(tensor::View dy, tensor::View y, tensor::View sums = {});

 private:
  device::Device* device_;
  device::ActivationSpec f_;
  tensor::View input_;  // empty where it is not needed
};

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_FUSED_ACTIVATION_H_
