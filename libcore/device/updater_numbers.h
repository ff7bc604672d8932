// The numbers of a training step as float32 devices compute with them.

#ifndef DL_LIBCORE_DEVICE_UPDATER_NUMBERS_H_
#define DL_LIBCORE_DEVICE_UPDATER_NUMBERS_H_

#include <cmath>
#include <utility>

#include "libcore/device/api/updater.h"

namespace dl::device {

// Numbers of an update step, in float32. `mean` and `square` weigh a gradient
// and its square against the state, whose own weights are beta1 and beta2;
// `nudge` is the rate of the gradient itself in nadam; `inside` is added to
// squares, `epsilon` to their root.
struct UpdaterNumbers {
  float scale, limit, l1, l2;
  float rate, momentum, beta1, mean, beta2, square, inside, epsilon, nudge,
      decay;
};

// Nadam's momentum at step t, beta1 (1 - q^t / 2) with Dozat's q = 0.96^decay,
// and the
// product of those of steps 1 to t.  The product's logarithm is t log(beta1)
// and the sum of log(1 - q^i / 2); that of the series of each is a series of
// geometric sums.
struct NadamMomentum {
  static constexpr int kTerms = 40;  // each less than half of that before
  double now, next, product;

  NadamMomentum(double beta1, double decay, double t) {
    const double q = std::pow(0.96, decay), to = std::pow(q, t);
    now = beta1 * (1 - 0.5 * to);
    next = beta1 * (1 - 0.5 * to * q);
    double sum = 0, half = 1, base = 1, end = 1;
    for (int k = 1; k <= kTerms; ++k) {
      half *= 0.5, base *= q, end *= to;
      sum += half / k * base * (1 - end) / (1 - base);
    }
    product = std::pow(beta1, t) * std::exp(-sum);
  }
};

// scale: in place of the step's.  Shares are rounded from doubles: 1 - 0.999f
// has lost digits.
inline UpdaterNumbers updater_numbers(const UpdaterStep& step, double scale) {
  double rate = step.learning_rate, nudge = 0;
  const auto t = static_cast<double>(step.step);
  switch (step.kind) {
    case Updater::kNone:
      rate = 1;
      break;
    case Updater::kAdam:
    case Updater::kAdamW:
    case Updater::kAmsGrad:
    case Updater::kAdaBelief:
      rate *= std::sqrt(1 - std::pow(step.beta2, t)) /
              (1 - std::pow(step.beta1, t));
      break;
    case Updater::kAdaMax:
      rate /= 1 - std::pow(step.beta1, t);
      break;
    case Updater::kNadam: {
      const NadamMomentum momentum(step.beta1, step.momentum_decay, t);
      const double alpha = rate * std::sqrt(1 - std::pow(step.beta2, t));
      rate = alpha * momentum.next / (1 - momentum.product * momentum.next);
      nudge = alpha * (1 - momentum.now) / (1 - momentum.product);
      break;
    }
    default:
      break;
  }
  double inside = 0, epsilon = step.epsilon;
  if (step.epsilon_at == EpsilonAt::kSquare) std::swap(inside, epsilon);
  if (step.epsilon_at == EpsilonAt::kCorrected)
    epsilon *= std::sqrt(1 - std::pow(step.beta2, t));
  const auto real = [](double x) { return static_cast<float>(x); };
  return {.scale = real(scale),
          .limit = real(step.limit),
          .l1 = real(step.l1),
          .l2 = real(step.l2),
          .rate = real(rate),
          .momentum = real(step.momentum),
          .beta1 = real(step.beta1),
          .mean = real(1 - step.beta1),
          .beta2 = real(step.beta2),
          .square = real(1 - step.beta2),
          .inside = real(inside),
          .epsilon = real(epsilon),
          .nudge = real(nudge),
          .decay = real(step.decay)};
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_UPDATER_NUMBERS_H_
