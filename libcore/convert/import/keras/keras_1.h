// Models of Keras 1, said as Keras 2 says them.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_KERAS_1_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_KERAS_1_H_

#include <vector>

#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/keras/spec.h"

namespace dl::convert::keras {

// A sequence that starts with a Merge of models, as the graph that it is; names
// for what has none; layers that have another name since then.
// Throws Error: kData, a Merge that is Python code.
ModelSpec as_keras_2(const JsonView& json);
// The arrays of a layer: kernels [window..., channels, filters], those of a
// cell's gates side by side.  Theano's kernels stay mirrored.
std::vector<Array> as_keras_2(const LayerSpec& layer,
                              std::vector<Array> arrays);

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_KERAS_1_H_
