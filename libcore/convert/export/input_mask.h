// The inputs that have a mask beside them.

#ifndef DL_LIBCORE_CONVERT_EXPORT_INPUT_MASK_H_
#define DL_LIBCORE_CONVERT_EXPORT_INPUT_MASK_H_

#include <cstddef>
#include <optional>
#include <string>

#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

// Input i, if it is a sequence: as told, else as its training data had one.
inline bool has_mask(const nn::Model& model, const nn::Layout& layout,
                     std::size_t i, std::optional<bool> told) {
  if (!layout.inputs[i].steps) return false;
  if (told) return *told;
  const auto& inputs = model.config.inputs;
  const auto& schema = model.data.schema;
  return schema.contains("features_mask/" + inputs[i].name) ||
         (inputs.size() == 1 && schema.contains("features_mask"));
}

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_EXPORT_INPUT_MASK_H_
