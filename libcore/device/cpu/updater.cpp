// Training steps of parameters, as dl-network(5) writes them, in one pass.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

// What a step says, in float32.  `mean` and `square` weigh a gradient and its
// square against the state, whose own weights are beta1 and beta2.
struct Numbers {
  float scale, limit, l1, l2;
  float rate, momentum, beta1, mean, beta2, square, epsilon;
};

// Each makes an update of a gradient and moves the state, which kState says
// how much of there is.
struct Sgd {
  static constexpr int kState = 0;
  static DL_INLINE float update(const Numbers& p, float g, float&, float&) {
    return p.rate * g;
  }
};

// v' = momentum v - rate g;  u = momentum v - (1 + momentum) v'
struct Nesterov {
  static constexpr int kState = 1;
  static DL_INLINE float update(const Numbers& p, float g, float& v, float&) {
    const float carried = p.momentum * v;
    v = carried - p.rate * g;
    return carried - (1.0f + p.momentum) * v;
  }
};

struct AdaGrad {
  static constexpr int kState = 1;
  static DL_INLINE float update(const Numbers& p, float g, float& h, float&) {
    h += g * g;
    return p.rate * g / (std::sqrt(h) + p.epsilon);
  }
};

struct RmsProp {
  static constexpr int kState = 1;
  static DL_INLINE float update(const Numbers& p, float g, float& s, float&) {
    s = p.beta2 * s + p.square * g * g;
    return p.rate * g / (std::sqrt(s) + p.epsilon);
  }
};

struct Adam {
  static constexpr int kState = 2;
  static DL_INLINE float update(const Numbers& p, float g, float& m, float& v) {
    m = p.beta1 * m + p.mean * g;
    v = p.beta2 * v + p.square * g * g;
    return p.rate * m / (std::sqrt(v) + p.epsilon);
  }
};

// A float's magnitude as a whole number: infinity and NaN are the largest.
DL_INLINE std::int32_t magnitude(float x) {
  return std::bit_cast<std::int32_t>(x) & 0x7FFFFFFF;
}

enum class Form {
  kUpdate,             // g = u
  kUpdateRegularized,  // g = u, and w is read
  kApply               // w -= u
};

template <typename Updater, Form kForm>
DL_VECTOR bool pass(const Numbers& numbers, float* g, float* w, float* m,
                    float* v, std::int64_t n) {
  const Numbers p = numbers;
  std::int32_t largest = 0;
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const float scaled = p.scale * g[i];
    const float below = scaled > p.limit ? p.limit : scaled;
    float gradient = below < -p.limit ? -p.limit : below;
    if constexpr (kForm != Form::kUpdate) {
      const float sign = w[i] > 0 ? 1.0f : w[i] < 0 ? -1.0f : 0.0f;
      gradient += p.l2 * w[i] + p.l1 * sign;
    }
    float first = 0, second = 0;
    if constexpr (Updater::kState > 0) first = m[i];
    if constexpr (Updater::kState > 1) second = v[i];
    const float update = Updater::update(p, gradient, first, second);
    // An infinite adam m shows in the update.
    if constexpr (Updater::kState > 0) m[i] = first;
    if constexpr (Updater::kState > 1) v[i] = second;
    if constexpr (Updater::kState > 0)
      largest =
          std::max(largest, magnitude(Updater::kState > 1 ? second : first));
    const float written = kForm == Form::kApply ? w[i] - update : update;
    (kForm == Form::kApply ? w : g)[i] = written;
    largest = std::max(largest, magnitude(written));
  }
  return largest < 0x7F800000;
}

}  // namespace kernels

namespace {

using kernels::Form;
using tensor::Updater;
using tensor::UpdaterStep;
using Pass = bool (*)(const kernels::Numbers&, float*, float*, float*, float*,
                      std::int64_t);

// Shares are rounded from doubles: 1 - 0.999f has lost digits.
kernels::Numbers numbers_of(const UpdaterStep& step) {
  double rate = step.learning_rate;
  if (step.kind == Updater::kNone) rate = 1;
  if (step.kind == Updater::kAdam) {
    const auto t = static_cast<double>(step.step);
    rate *=
        std::sqrt(1 - std::pow(step.beta2, t)) / (1 - std::pow(step.beta1, t));
  }
  const auto real = [](double x) { return static_cast<float>(x); };
  return {.scale = real(step.scale),
          .limit = real(step.limit),
          .l1 = real(step.l1),
          .l2 = real(step.l2),
          .rate = real(rate),
          .momentum = real(step.momentum),
          .beta1 = real(step.beta1),
          .mean = real(1 - step.beta1),
          .beta2 = real(step.beta2),
          .square = real(1 - step.beta2),
          .epsilon = real(step.epsilon)};
}

template <Form kForm>
Pass pass_of(Updater kind) {
  switch (kind) {
    case Updater::kNesterov:
      return kernels::pass<kernels::Nesterov, kForm>;
    case Updater::kAdaGrad:
      return kernels::pass<kernels::AdaGrad, kForm>;
    case Updater::kRmsProp:
      return kernels::pass<kernels::RmsProp, kForm>;
    case Updater::kAdam:
      return kernels::pass<kernels::Adam, kForm>;
    default:
      return kernels::pass<kernels::Sgd, kForm>;
  }
}

}  // namespace

bool CpuDevice::update(const UpdaterStep& step, tensor::UpdateTo to, View g,
                       View w, View m, View v) {
  check_update(tensor::DType::kF32, step, to, g, w, m, v);
  const Pass pass = to == tensor::UpdateTo::kParameters
                        ? pass_of<Form::kApply>(step.kind)
                    : step.l1 != 0 || step.l2 != 0
                        ? pass_of<Form::kUpdateRegularized>(step.kind)
                        : pass_of<Form::kUpdate>(step.kind);
  return pass(numbers_of(step), g.as<float>(), w.as<float>(), m.as<float>(),
              v.as<float>(), g.elements());
}

}  // namespace dl::device
