// Functions that are applied number by number.

#ifndef DL_LIBCORE_DEVICE_API_ACTIVATION_H_
#define DL_LIBCORE_DEVICE_API_ACTIVATION_H_

#include <limits>

namespace dl::device {

enum class Activation {
  kIdentity,
  kRelu,
  kLeakyRelu,
  kElu,
  kGelu,
  kSigmoid,
  kTanh,
  kSoftplus,
  kSoftmax,  // over the last dimension
  kRelu6,
  kCappedRelu,
  kThresholdedRelu,
  kSelu,
  kSwish,
  kMish,
  kSoftsign,
  kCube,
  kHardSigmoid,
  kHardTanh,
  kRationalTanh,
  kRectifiedTanh,
  kExp,
  kLogSoftmax  // over the last dimension
};

// The formulas are in dl-network(5), ACTIVATIONS.  Each function uses only its
// own parameters.
struct ActivationSpec {
  Activation kind = Activation::kIdentity;
  // Slope of leaky_relu, of capped_relu below its threshold and of
  // hard_sigmoid, each at least 0; scale of elu; beta of swish.
  double alpha = 0.01;
  double threshold = 0;  // of capped_relu and thresholded_relu, at least 0
  double limit =
      std::numeric_limits<double>::infinity();  // of capped_relu, > 0
  bool approximate = false;  // gelu: by tanh, else x * Phi(x)
};

// The hard_sigmoid of recurrent cells has this slope.
inline constexpr double kCellSlope = 0.2;

// True where the gradient cannot be had from the output.
constexpr bool gradient_needs_input(Activation kind) {
  return kind == Activation::kGelu || kind == Activation::kSoftplus ||
         kind == Activation::kSwish || kind == Activation::kMish ||
         kind == Activation::kCube || kind == Activation::kRationalTanh;
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_ACTIVATION_H_
