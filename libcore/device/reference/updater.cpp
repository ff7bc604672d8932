// Training steps of parameters, as dl-network(5) writes them.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::Updater;
using tensor::UpdaterStep;

double prepared(const UpdaterStep& step, double g, double w) {
  g *= step.scale;
  if (g > step.limit) g = step.limit;
  if (g < -step.limit) g = -step.limit;
  const double sign = w > 0 ? 1 : w < 0 ? -1 : 0;
  return g + step.l2 * w + step.l1 * sign;
}

double update_of(const UpdaterStep& step, double g, double& m, double& v) {
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
    case Updater::kAdaGrad:
      m += g * g;
      return lr * g / (std::sqrt(m) + step.epsilon);
    case Updater::kRmsProp:
      m = step.beta2 * m + (1 - step.beta2) * g * g;
      return lr * g / (std::sqrt(m) + step.epsilon);
    case Updater::kAdam: {
      m = step.beta1 * m + (1 - step.beta1) * g;
      v = step.beta2 * v + (1 - step.beta2) * g * g;
      const double alpha = lr * std::sqrt(1 - std::pow(step.beta2, t)) /
                           (1 - std::pow(step.beta1, t));
      return alpha * m / (std::sqrt(v) + step.epsilon);
    }
  }
  return g;
}

}  // namespace

bool ReferenceDevice::update(const UpdaterStep& step, tensor::UpdateTo to,
                             View gradient, View parameters, View first,
                             View second) {
  check_update(DType::kF64, step, to, gradient, parameters, first, second);
  bool finite = true;
  for (std::int64_t i = 0; i < gradient.elements(); ++i) {
    double none = 0;
    const auto at = [&](View view) -> double& {
      return view.empty() ? none : view.as<double>()[i];
    };
    double &g = at(gradient), &w = at(parameters);
    double &m = at(first), &v = at(second);
    const double u = update_of(step, prepared(step, g, w), m, v);
    double& target = to == tensor::UpdateTo::kGradient ? g : w;
    target = to == tensor::UpdateTo::kGradient ? u : w - u;
    for (const double x : {target, m, v}) finite = finite && std::isfinite(x);
  }
  return finite;
}

}  // namespace dl::device
