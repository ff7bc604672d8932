// Batch normalization with what is behind it, in one pass over memory.

#ifndef DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_
#define DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_

#include <memory>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// site: of a batch_norm.  Its backward() needs no y.
std::unique_ptr<Layer> make_batch_norm_relu(const LayerSite& site,
                                            Memory& memory);

// relu(batch_norm(x[0]) + x[1]), the end of a residual block.
std::unique_ptr<Layer> make_residual_end(const LayerSite& site, Memory& memory);
BufferPolicy manners_of_residual_end();

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_BATCH_NORM_H_
