// Regularisation and updaters, as dl-network(5) writes them.  Each is one pass
// over memory.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void regularize(float* g, const float* w, float l1, float l2,
                          std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const float sign = w[i] > 0 ? 1.0f : w[i] < 0 ? -1.0f : 0.0f;
    g[i] += l2 * w[i] + l1 * sign;
  }
}

// v' = momentum v - rate g;  u = momentum v - (1 + momentum) v'
DL_VECTOR void nesterov(float* g, float* v, float rate, float momentum,
                        std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const float carried = momentum * v[i];
    v[i] = carried - rate * g[i];
    g[i] = carried - (1.0f + momentum) * v[i];
  }
}

DL_VECTOR void ada_grad(float* g, float* h, float rate, float epsilon,
                        std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    h[i] += g[i] * g[i];
    g[i] = rate * g[i] / (std::sqrt(h[i]) + epsilon);
  }
}

DL_VECTOR void rms_prop(float* g, float* s, float rate, float decay,
                        float share, float epsilon, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    s[i] = decay * s[i] + share * g[i] * g[i];
    g[i] = rate * g[i] / (std::sqrt(s[i]) + epsilon);
  }
}

struct Adam {
  float beta1, share1, beta2, share2, alpha, epsilon;
};

DL_VECTOR void adam(float* g, float* m, float* v, const Adam& parameters,
                    std::int64_t n) {
  const Adam p = parameters;
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    m[i] = p.beta1 * m[i] + p.share1 * g[i];
    v[i] = p.beta2 * v[i] + p.share2 * g[i] * g[i];
    g[i] = p.alpha * m[i] / (std::sqrt(v[i]) + p.epsilon);
  }
}

}  // namespace kernels

namespace {

using tensor::Updater;
using tensor::UpdaterStep;

// Shares are rounded from doubles: 1 - 0.999f has lost digits.
kernels::Adam adam_of(const UpdaterStep& step) {
  const auto t = static_cast<double>(step.step);
  const double alpha = step.learning_rate *
                       std::sqrt(1 - std::pow(step.beta2, t)) /
                       (1 - std::pow(step.beta1, t));
  return {static_cast<float>(step.beta1), static_cast<float>(1 - step.beta1),
          static_cast<float>(step.beta2), static_cast<float>(1 - step.beta2),
          static_cast<float>(alpha),      static_cast<float>(step.epsilon)};
}

}  // namespace

void CpuDevice::regularize(View g, View w, double l1, double l2) {
  check_reals(tensor::DType::kF32, {g, w});
  check_equal_elements(g, w);
  kernels::regularize(g.as<float>(), w.as<float>(), static_cast<float>(l1),
                      static_cast<float>(l2), g.elements());
}

void CpuDevice::update(const UpdaterStep& step, View gradient, View first,
                       View second) {
  check_update(tensor::DType::kF32, step, gradient, first, second);
  const std::int64_t n = gradient.elements();
  float* g = gradient.as<float>();
  float* m = first.as<float>();
  const auto rate = static_cast<float>(step.learning_rate);
  const auto epsilon = static_cast<float>(step.epsilon);
  switch (step.kind) {
    case Updater::kNone:
      return;
    case Updater::kSgd:
      return scale(gradient, step.learning_rate);
    case Updater::kNesterov:
      return kernels::nesterov(g, m, rate, static_cast<float>(step.momentum),
                               n);
    case Updater::kAdaGrad:
      return kernels::ada_grad(g, m, rate, epsilon, n);
    case Updater::kRmsProp:
      return kernels::rms_prop(g, m, rate, static_cast<float>(step.beta2),
                               static_cast<float>(1 - step.beta2), epsilon, n);
    case Updater::kAdam:
      return kernels::adam(g, m, second.as<float>(), adam_of(step), n);
  }
}

}  // namespace dl::device
