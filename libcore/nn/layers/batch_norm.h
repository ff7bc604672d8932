// Batch normalisation with relu of its result, in one pass over memory each.

#ifndef DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_
#define DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_

#include <memory>

#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// site: of a batch_norm.  Its backward() needs no y.
std::unique_ptr<Layer> make_batch_norm_relu(const LayerSite& site,
                                            Memory& memory);

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_
