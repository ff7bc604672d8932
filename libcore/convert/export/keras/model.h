// Layers of Keras as the files that it reads.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_MODEL_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_MODEL_H_

#include <string>
#include <vector>

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {

// Keras finds the weights of layers by their order, which is its own: those far
// from the outputs come first.
std::vector<KerasNode> in_keras_order(const std::vector<KerasNode>& nodes,
                                      const std::vector<std::string>& outputs);

// Files of a functional model; inputs and outputs by the names of layers.
std::string keras_archive(const std::vector<KerasNode>& nodes,
                          const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs);
std::string keras_hdf5(const std::vector<KerasNode>& nodes,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_MODEL_H_
