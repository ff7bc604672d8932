// The losses, which training makes small.

#ifndef DL_LIBCORE_DEVICE_API_LOSS_H_
#define DL_LIBCORE_DEVICE_API_LOSS_H_

#include <optional>

#include "libcore/device/api/activation.h"
#include "libcore/device/api/values.h"

namespace dl::device {

// The formulas are in dl-network(5), LOSSES.
enum class Loss {
  kNegativeLogLikelihood,  // -sum t log y
  kBinaryCrossEntropy,     // -sum t log y + (1 - t) log(1 - y)
  kMeanSquaredError,       // mean over outputs of (y - t)^2
  kMeanAbsoluteError,      // mean over outputs of |y - t|
  kL1,                     // sums instead of means
  kL2,
  kHuber,
  kLogCosh,
  kMeanAbsolutePercentageError,
  kMeanSquaredLogarithmicError,
  kKlDivergence,
  kPoisson,
  kHinge,
  kSquaredHinge,
  kCategoricalHinge,
  kCosineProximity,
  kWasserstein,
  kFocal,
  kBinaryFocal,
  kMultiLabel,
  kGaussian,    // -log of a normal density; of each output mean, log variance
  kExponential  // log y + t / y
};

// Losses that look at each number separately use no other.
struct LossSpec {
  Loss kind = Loss::kNegativeLogLikelihood;
  double delta = 1;  // huber: from where on it grows like a line, over 0
  double gamma = 2;  // focal losses: at least 0
  // Weights of targets t and, in binary losses, of 1 - t; focal: t alone.
  double positive = 1, negative = 1;
  // Label smoothing of losses of classes: t becomes (1 - smoothing) t +
  // smoothing / n, n being the number of outputs; of binary ones 2.
  double smoothing = 0;
  // [units], what each output counts, or the target of each class; empty: 1.
  // Not for those that look at all outputs at once: categorical_hinge,
  // cosine_proximity and multi_label.
  View weights = {};
};

// The activation that Device::loss_with_logits() has inside.
constexpr std::optional<Activation> activation_inside(Loss kind) {
  switch (kind) {
    case Loss::kNegativeLogLikelihood:
    case Loss::kKlDivergence:
    case Loss::kFocal:
      return Activation::kSoftmax;
    case Loss::kBinaryCrossEntropy:
    case Loss::kBinaryFocal:
      return Activation::kSigmoid;
    case Loss::kPoisson:
    case Loss::kExponential:
      return Activation::kExp;
    default:
      return {};
  }
}

// How many numbers an example has for each of its targets: first those of one
// kind for all targets, then those of the next.
constexpr int numbers_each(Loss kind) {
  return kind == Loss::kGaussian ? 2 : 1;
}

// True for losses that are computed with their activation alone.
constexpr bool needs_logits(Loss kind) {
  return kind == Loss::kFocal || kind == Loss::kBinaryFocal;
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_LOSS_H_
