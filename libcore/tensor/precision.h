// What numbers are held in where memory and speed count more than digits.

#ifndef DL_LIBCORE_TENSOR_PRECISION_H_
#define DL_LIBCORE_TENSOR_PRECISION_H_

namespace dl::tensor {

enum class Precision {
  kFloat32,
  kBfloat16,  // the range of float32, with 8 bits of its 24
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_PRECISION_H_
