// A model as a file that Keras loads with no code of ours.

#ifndef DL_LIBCORE_CONVERT_EXPORT_KERAS_KERAS_H_
#define DL_LIBCORE_CONVERT_EXPORT_KERAS_KERAS_H_

#include <optional>
#include <string>

#include "libcore/nn/model/model.h"

namespace dl::convert {

enum class KerasFormat {
  // A zip archive of config.json, metadata.json and model.weights.h5: Keras 3.
  kArchive,
  // One HDF5 file, of which the configuration is an attribute: Keras 2 and 3.
  kHdf5
};

// The bytes of a functional model, inputs as the data have them and outputs in
// the units of the labels.  Masks of the data are not part of it: padding is
// found by its zeros.  masks: whether inputs that are sequences have padding;
// where that is not said, those have some whose training data had a mask.
// Throws Error: kData, Keras has no such layer.
std::string to_keras(const nn::Model& model,
                     KerasFormat format = KerasFormat::kArchive,
                     std::optional<bool> masks = {});

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_KERAS_KERAS_H_
