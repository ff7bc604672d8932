// What training makes small.

#ifndef DL_LIBCORE_TENSOR_LOSS_H_
#define DL_LIBCORE_TENSOR_LOSS_H_

namespace dl::tensor {

enum class Loss {
  kNegativeLogLikelihood,  // -sum t log y
  kBinaryCrossEntropy,     // -sum t log y + (1 - t) log(1 - y)
  kMeanSquaredError,       // mean over outputs of (y - t)^2
  kMeanAbsoluteError       // mean over outputs of |y - t|
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_LOSS_H_
