// Regularisation and updaters, as dl-network(5) writes them.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;
using tensor::Updater;
using tensor::UpdaterStep;

void ReferenceDevice::regularize(View g, View w, double l1, double l2) {
  check_reals(DType::kF64, {g, w});
  check_equal_elements(g, w);
  for (std::int64_t i = 0; i < g.elements(); ++i) {
    const double value = w.as<double>()[i];
    const double sign = value > 0 ? 1 : value < 0 ? -1 : 0;
    g.as<double>()[i] += l2 * value + l1 * sign;
  }
}

void ReferenceDevice::update(const UpdaterStep& step, View gradient, View m,
                             View v) {
  check_update(DType::kF64, step, gradient, m, v);
  const std::int64_t n = gradient.elements();
  const double lr = step.learning_rate;
  const auto t = static_cast<double>(step.step);
  for (std::int64_t i = 0; i < n; ++i) {
    double& g = gradient.as<double>()[i];
    double* s = m.empty() ? nullptr : m.as<double>() + i;
    switch (step.kind) {
      case Updater::kNone:
        break;
      case Updater::kSgd:
        g = lr * g;
        break;
      case Updater::kNesterov: {
        const double before = s[0];
        s[0] = step.momentum * before - lr * g;
        g = step.momentum * before - (1 + step.momentum) * s[0];
        break;
      }
      case Updater::kAdaGrad:
        s[0] += g * g;
        g = lr * g / (std::sqrt(s[0]) + step.epsilon);
        break;
      case Updater::kRmsProp:
        s[0] = step.beta2 * s[0] + (1 - step.beta2) * g * g;
        g = lr * g / (std::sqrt(s[0]) + step.epsilon);
        break;
      case Updater::kAdam: {
        double &mean = s[0], &square = v.as<double>()[i];
        mean = step.beta1 * mean + (1 - step.beta1) * g;
        square = step.beta2 * square + (1 - step.beta2) * g * g;
        const double alpha = lr * std::sqrt(1 - std::pow(step.beta2, t)) /
                             (1 - std::pow(step.beta1, t));
        g = alpha * mean / (std::sqrt(square) + step.epsilon);
        break;
      }
    }
  }
}

}  // namespace dl::device
