// Vertices that join inputs of one shape number by number.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_ELEMENTWISE_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_ELEMENTWISE_H_

#include <span>

#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"

namespace dl::nn::layers {

// The form that all inputs have.
// Throws Error: kConfig, "its inputs are [4] and [5]; want inputs of one
// shape".
ValueSpec same_form(std::span<const ValueSpec> inputs);

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_ELEMENTWISE_H_
