// A model before its numbers are filled in.

#ifndef DL_LIBCORE_CONVERT_IMPORT_EMPTY_MODEL_H_
#define DL_LIBCORE_CONVERT_IMPORT_EMPTY_MODEL_H_

#include <cstddef>
#include <utility>

#include "libcore/nn/layout.h"
#include "libcore/nn/model/model.h"

namespace dl::convert {

// An empty model for this network, whose layout_of() is given: parameters and
// statistics are zeros, and there is no normalizer.
inline nn::Model empty_model(nn::NetworkConfig config,
                             const nn::Layout& layout) {
  nn::Model model;
  model.config = std::move(config);
  model.normalizers.inputs.resize(model.config.inputs.size());
  model.normalizers.outputs.resize(model.config.outputs.size());
  model.parameters.resize(static_cast<std::size_t>(layout.parameter_count));
  model.statistics.resize(static_cast<std::size_t>(layout.statistics_count));
  return model;
}

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_EMPTY_MODEL_H_
