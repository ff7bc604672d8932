// The remedy where a layer of sequences gets a vector, for messages.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_STEPS_HINT_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_STEPS_HINT_H_

#include "libcore/tensor/shape.h"

namespace dl::nn::layers {

// Ends a sentence on an input of this shape that is no sequence; "" unless it
// is a vector, as of a table's columns.
inline const char* steps_hint(const tensor::Shape& shape) {
  return shape.rank() != 1
             ? ""
             : R"(; a layer {"type": "reshape", "shape": [STEPS, FEATURES]} )"
               "before it turns columns into steps, dl-preprocess csv "
               "--sequence turns rows into them";
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_STEPS_HINT_H_
