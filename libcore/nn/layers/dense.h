// The base of types that are dense layers once they have learnt.

#ifndef DL_LIBCORE_NN_LAYERS_DENSE_H_
#define DL_LIBCORE_NN_LAYERS_DENSE_H_

#include <memory>

#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// Layer of settings with units, bias and activation, planned by infer_linear().
std::unique_ptr<Layer> make_dense(const LayerSite& site, Memory& memory);

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_DENSE_H_
