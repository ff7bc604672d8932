// The __metadata__ of a model file: everything of a model but its tensors.
// dl-model(5) has the keys.

#ifndef DL_LIBCORE_NN_MODEL_MODEL_METADATA_H_
#define DL_LIBCORE_NN_MODEL_MODEL_METADATA_H_

#include <map>
#include <string>

#include "libcore/nn/model/model.h"

namespace dl::nn {

using ModelStrings = std::map<std::string, std::string>;

// All of a model's, without the checksum.
ModelStrings metadata_of(const Model& model);
// Throws Error: kData, it is no model, or of a version that is not known.
void check_version(const ModelStrings& metadata);
// A model without tensors.
// Throws Error: kData, a key is missing or its text is damaged.
Model model_from(const ModelStrings& metadata);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MODEL_MODEL_METADATA_H_
