// Convolution and max pooling in one: the activation then comes last, where
// three of four values are gone.

#ifndef DL_LIBCORE_NN_LAYERS_CONV2D_H_
#define DL_LIBCORE_NN_LAYERS_CONV2D_H_

#include <memory>

#include "libcore/nn/config/config.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// Whether `layer` and `next`, which takes its output `between` [height, width,
// channels], become one convolution that pools.
bool pools_at_once(const LayerConfig& layer, const LayerConfig& next,
                   const tensor::Shape& between);

// site: of the first, with the output of the second.
std::unique_ptr<Layer> make_conv2d_max_pool2d(const LayerSite& site,
                                              Memory& memory);
}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_CONV2D_H_
