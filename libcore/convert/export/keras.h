// A model as a .keras file, which Keras 3 loads with no code of ours.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_H_

#include <string>

#include "libcore/nn/model.h"

namespace dl::convert {

// The bytes of a zip archive of config.json, metadata.json and
// model.weights.h5: a functional model, inputs as the data have them and
// outputs in the units of the labels.  Masks of the data are not part of it.
// Throws Error: kData, Keras has no such layer.
std::string to_keras(const nn::Model& model);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_H_
