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

void ReferenceDevice::update(const UpdaterStep& step, View gradient, View first,
                             View second) {
  check_update(DType::kF64, step, gradient, first, second);
  const double lr = step.learning_rate;
  const auto t = static_cast<double>(step.step);
  for (std::int64_t i = 0; i < gradient.elements(); ++i) {
    double& g = gradient.as<double>()[i];
    double none = 0;
    double& m = first.empty() ? none : first.as<double>()[i];
    double& v = second.empty() ? none : second.as<double>()[i];
    switch (step.kind) {
      case Updater::kNone:
        break;
      case Updater::kSgd:
        g = lr * g;
        break;
      case Updater::kNesterov: {
        const double before = m;
        m = step.momentum * before - lr * g;
        g = step.momentum * before - (1 + step.momentum) * m;
        break;
      }
      case Updater::kAdaGrad:
        m += g * g;
        g = lr * g / (std::sqrt(m) + step.epsilon);
        break;
      case Updater::kRmsProp:
        m = step.beta2 * m + (1 - step.beta2) * g * g;
        g = lr * g / (std::sqrt(m) + step.epsilon);
        break;
      case Updater::kAdam: {
        m = step.beta1 * m + (1 - step.beta1) * g;
        v = step.beta2 * v + (1 - step.beta2) * g * g;
        const double alpha = lr * std::sqrt(1 - std::pow(step.beta2, t)) /
                             (1 - std::pow(step.beta1, t));
        g = alpha * m / (std::sqrt(v) + step.epsilon);
        break;
      }
    }
  }
}

}  // namespace dl::device
