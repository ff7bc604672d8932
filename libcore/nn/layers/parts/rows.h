// Views of values as rows along their last dimension.

#ifndef DL_LIBCORE_NN_LAYERS_PARTS_ROWS_H_
#define DL_LIBCORE_NN_LAYERS_PARTS_ROWS_H_

#include "libcore/tensor/view.h"

namespace dl::nn::layers {

// [.., c] as [rows, c], and what has one number for each of these rows.
inline tensor::View as_rows(tensor::View v, std::int64_t c) {
  return v.reshaped({v.elements() / c, c});
}
inline tensor::View as_rows(tensor::View v) {
  return as_rows(v, v.shape.back());
}
inline tensor::View first_of(tensor::View v, std::int64_t n) {
  return v.at(0, {n});
}

}  // namespace dl::nn::layers

#endif  // DL_LIBCORE_NN_LAYERS_PARTS_ROWS_H_
