// Training steps of parameters, as dl-network(5) writes them.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;

double prepared(const UpdaterStep& step, double g, double w) {
  g *= step.scale;
  if (g > step.limit) g = step.limit;
  if (g < -step.limit) g = -step.limit;
  const double sign = w > 0 ? 1 : w < 0 ? -1 : 0;
  return g + step.l2 * w + step.l1 * sign;
}

// Dozat's, which Keras and PyTorch use.
double nadam_momentum(const UpdaterStep& step, double t) {
  return step.beta1 * (1 - 0.5 * std::pow(0.96, step.momentum_decay * t));
}

// The root of a mean or sum of squares, with epsilon.
double divisor(const UpdaterStep& step, double squares) {
  const double correction =
      std::sqrt(1 - std::pow(step.beta2, static_cast<double>(step.step)));
  switch (step.epsilon_at) {
    case EpsilonAt::kRoot:
      break;
    case EpsilonAt::kSquare:
      return std::sqrt(squares + step.epsilon);
    case EpsilonAt::kCorrected:
      return std::sqrt(squares) + step.epsilon * correction;
  }
  return std::sqrt(squares) + step.epsilon;
}

double nadam(const UpdaterStep& step, double g, double m, double v) {
  const auto t = static_cast<double>(step.step);
  double product = 1;
  for (double i = 1; i <= t; ++i) product *= nadam_momentum(step, i);
  const double now = nadam_momentum(step, t);
  const double next = nadam_momentum(step, t + 1);
  const double mean =
      next * m / (1 - product * next) + (1 - now) * g / (1 - product);
  return step.learning_rate * std::sqrt(1 - std::pow(step.beta2, t)) * mean /
         divisor(step, v);
}

double update_of(const UpdaterStep& step, double g, double& m, double& v,
                 double& x) {
  const double lr = step.learning_rate;
  const auto t = static_cast<double>(step.step);
  switch (step.kind) {
    case Updater::kNone:
      break;
    case Updater::kSgd:
      return lr * g;
    case Updater::kNesterov: {
      const double before = m;
      m = step.momentum * before - lr * g;
      return step.momentum * before - (1 + step.momentum) * m;
    }
    case Updater::kMomentum:
      m = step.momentum * m - lr * g;
      return -m;
    case Updater::kAdaGrad:
      m += g * g;
      return lr * g / divisor(step, m);
    case Updater::kRmsProp:
      m = step.beta2 * m + (1 - step.beta2) * g * g;
      return lr * g / divisor(step, m);
    case Updater::kAdaDelta: {  // m: of squared updates, v: of gradients
      v = step.beta2 * v + (1 - step.beta2) * g * g;
      const double u =
          g * std::sqrt(m + step.epsilon) / std::sqrt(v + step.epsilon);
      m = step.beta2 * m + (1 - step.beta2) * u * u;
      return lr * u;
    }
    default:
      break;
  }
  if (step.kind == Updater::kNone) return g;
  // Adam and its kin.
  m = step.beta1 * m + (1 - step.beta1) * g;
  if (step.kind == Updater::kAdaMax) {
    v = std::max(step.beta2 * v, std::abs(g) + step.epsilon);
    return lr / (1 - std::pow(step.beta1, t)) * m / v;
  }
  if (step.kind == Updater::kAdaBelief)
    v = step.beta2 * v + (1 - step.beta2) * (g - m) * (g - m) + step.epsilon;
  else
    v = step.beta2 * v + (1 - step.beta2) * g * g;
  x = std::max(x, v);
  if (step.kind == Updater::kNadam) return nadam(step, g, m, v);
  const double alpha = lr * std::sqrt(1 - std::pow(step.beta2, t)) /
                       (1 - std::pow(step.beta1, t));
  return alpha * m / divisor(step, step.kind == Updater::kAmsGrad ? x : v);
}

void update_one(UpdateTo to, const Updating& one) {
  check_update(DType::kF64, one.step, to, one.gradient, one.parameters,
               one.state);
  const auto scale = gated_scale(one.step, one.number);
  if (!scale) return;
  UpdaterStep step = one.step;
  step.scale = *scale;
  bool finite = true;
  for (std::int64_t i = 0; i < one.gradient.elements(); ++i) {
    double none[] = {0, 0, 0, 0};
    const auto at = [&](tensor::View view, int which) -> double& {
      return view.empty() ? none[which] : view.as<double>()[i];
    };
    double &g = at(one.gradient, 0), &w = at(one.parameters, 0);
    double &m = at(one.state[0], 1), &v = at(one.state[1], 2),
           &x = at(one.state[2], 3);
    const double u =
        update_of(step, prepared(step, g, w), m, v, x) + step.decay * w;
    double& target = to == UpdateTo::kGradient ? g : w;
    target = to == UpdateTo::kGradient ? u : w - u;
    for (const double y : {target, m, v, x})
      finite = finite && std::isfinite(y);
  }
  if (!finite) spoil(one.number);
}

}  // namespace

void ReferenceDevice::update(UpdateTo to, std::span<const Updating> tensors) {
  for (const Updating& one : tensors) update_one(to, one);
}

}  // namespace dl::device
