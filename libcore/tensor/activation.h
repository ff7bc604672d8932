// Functions that are applied number by number.

#ifndef DL_LIBCORE_TENSOR_ACTIVATION_H_
#define DL_LIBCORE_TENSOR_ACTIVATION_H_

namespace dl::tensor {

enum class Activation {
  kIdentity,
  kRelu,
  kLeakyRelu,
  kElu,
  kGelu,
  kSigmoid,
  kTanh,
  kSoftplus,
  kSoftmax  // over the last dimension
};
// `alpha`: slope of leaky_relu, scale of elu; others ignore it.
// gelu is the exact one, x * Phi(x).
struct ActivationSpec {
  Activation kind = Activation::kIdentity;
  double alpha = 0.01;
};

}  // namespace dl::tensor

#endif  // DL_LIBCORE_TENSOR_ACTIVATION_H_
