// Training steps of parameters, as dl-network(5) writes them, in one pass.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/updater_numbers.h"

namespace dl::device {
namespace kernels {

// A parameter's state: what it was, and then what it is.
struct State {
  float m, v, x;
};

// Each makes an update of a gradient and moves the state, which kState says how
// much of there is.  Overflows of the state before kWatched show in the update.
struct Sgd {
  static constexpr int kState = 0, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State&) {
    return p.rate * g;
  }
};

// v' = momentum v - rate g;  u = momentum v - (1 + momentum) v'
struct Nesterov {
  static constexpr int kState = 1, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    const float carried = p.momentum * s.m;
    s.m = carried - p.rate * g;
    return carried - (1.0f + p.momentum) * s.m;
  }
};

// v' = momentum v - rate g;  u = -v'
struct Momentum {
  static constexpr int kState = 1, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.momentum * s.m - p.rate * g;
    return -s.m;
  }
};

struct AdaGrad {
  static constexpr int kState = 1, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m += g * g;
    return p.rate * g / (std::sqrt(s.m + p.inside) + p.epsilon);
  }
};

struct RmsProp {
  static constexpr int kState = 1, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta2 * s.m + p.square * g * g;
    return p.rate * g / (std::sqrt(s.m + p.inside) + p.epsilon);
  }
};

struct Adam {
  static constexpr int kState = 2, kWatched = 1;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta1 * s.m + p.mean * g;
    s.v = p.beta2 * s.v + p.square * g * g;
    return p.rate * s.m / (std::sqrt(s.v) + p.epsilon);
  }
};

struct AmsGrad {
  static constexpr int kState = 3, kWatched = 1;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta1 * s.m + p.mean * g;
    s.v = p.beta2 * s.v + p.square * g * g;
    s.x = s.v > s.x ? s.v : s.x;
    return p.rate * s.m / (std::sqrt(s.x) + p.epsilon);
  }
};

struct AdaMax {
  static constexpr int kState = 2, kWatched = 1;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta1 * s.m + p.mean * g;
    const float before = p.beta2 * s.v, now = std::fabs(g) + p.epsilon;
    s.v = before > now ? before : now;
    return p.rate * s.m / s.v;
  }
};

struct Nadam {
  static constexpr int kState = 2, kWatched = 1;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta1 * s.m + p.mean * g;
    s.v = p.beta2 * s.v + p.square * g * g;
    return (p.rate * s.m + p.nudge * g) / (std::sqrt(s.v) + p.epsilon);
  }
};

struct AdaBelief {
  static constexpr int kState = 2, kWatched = 1;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.m = p.beta1 * s.m + p.mean * g;
    const float surprise = g - s.m;
    s.v = p.beta2 * s.v + p.square * surprise * surprise + p.epsilon;
    return p.rate * s.m / (std::sqrt(s.v) + p.epsilon);
  }
};

// m: the mean of squared updates.
struct AdaDelta {
  static constexpr int kState = 2, kWatched = 0;
  static DL_INLINE float update(const UpdaterNumbers& p, float g, State& s) {
    s.v = p.beta2 * s.v + p.square * g * g;
    const float u = g * std::sqrt(s.m + p.epsilon) / std::sqrt(s.v + p.epsilon);
    s.m = p.beta2 * s.m + p.square * u * u;
    return p.rate * u;
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

// Where a step's arrays lie.
struct Arrays {
  float *g, *w, *m, *v, *x;
  std::int64_t n;
};

// kDecay: decay w is added to the update.
template <typename Updater, Form kForm, bool kDecay>
DL_VECTOR bool pass(const UpdaterNumbers& numbers, const Arrays& arrays) {
  static_assert(!kDecay || kForm != Form::kUpdate);
  const UpdaterNumbers p = numbers;
  float *const g = arrays.g, *const w = arrays.w;
  float *const m = arrays.m, *const v = arrays.v, *const x = arrays.x;
  const std::int64_t n = arrays.n;
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
    State s{};
    if constexpr (Updater::kState > 0) s.m = m[i];
    if constexpr (Updater::kState > 1) s.v = v[i];
    if constexpr (Updater::kState > 2) s.x = x[i];
    float update = Updater::update(p, gradient, s);
    if constexpr (kDecay) update += p.decay * w[i];
    if constexpr (Updater::kState > 0) m[i] = s.m;
    if constexpr (Updater::kState > 1) v[i] = s.v;
    if constexpr (Updater::kState > 2) x[i] = s.x;
    if constexpr (Updater::kState > 0 && Updater::kWatched <= 0)
      largest = std::max(largest, magnitude(s.m));
    if constexpr (Updater::kState > 1)
      largest = std::max(largest, magnitude(s.v));
    const float written = kForm == Form::kApply ? w[i] - update : update;
    (kForm == Form::kApply ? w : g)[i] = written;
    largest = std::max(largest, magnitude(written));
  }
  return largest < 0x7F800000;
}

}  // namespace kernels

namespace {

using kernels::Form;
using UpdaterPass = bool (*)(const UpdaterNumbers&, const kernels::Arrays&);

template <Form kForm, bool kDecay>
UpdaterPass pass_of(Updater kind) {
  switch (kind) {
    case Updater::kNesterov:
      return kernels::pass<kernels::Nesterov, kForm, kDecay>;
    case Updater::kMomentum:
      return kernels::pass<kernels::Momentum, kForm, kDecay>;
    case Updater::kAdaGrad:
      return kernels::pass<kernels::AdaGrad, kForm, kDecay>;
    case Updater::kRmsProp:
      return kernels::pass<kernels::RmsProp, kForm, kDecay>;
    case Updater::kAdam:
    case Updater::kAdamW:
      return kernels::pass<kernels::Adam, kForm, kDecay>;
    case Updater::kAmsGrad:
      return kernels::pass<kernels::AmsGrad, kForm, kDecay>;
    case Updater::kAdaMax:
      return kernels::pass<kernels::AdaMax, kForm, kDecay>;
    case Updater::kNadam:
      return kernels::pass<kernels::Nadam, kForm, kDecay>;
    case Updater::kAdaBelief:
      return kernels::pass<kernels::AdaBelief, kForm, kDecay>;
    case Updater::kAdaDelta:
      return kernels::pass<kernels::AdaDelta, kForm, kDecay>;
    case Updater::kNone:
    case Updater::kSgd:
      break;
  }
  return kernels::pass<kernels::Sgd, kForm, kDecay>;
}

UpdaterPass pass_of(const UpdaterStep& step, UpdateTo to) {
  const bool decay = step.decay != 0;
  if (to == UpdateTo::kParameters)
    return decay ? pass_of<Form::kApply, true>(step.kind)
                 : pass_of<Form::kApply, false>(step.kind);
  if (decay) return pass_of<Form::kUpdateRegularized, true>(step.kind);
  return step.l1 != 0 || step.l2 != 0
             ? pass_of<Form::kUpdateRegularized, false>(step.kind)
             : pass_of<Form::kUpdate, false>(step.kind);
}

void update_one(UpdateTo to, const Updating& one) {
  const tensor::View g = one.gradient, w = one.parameters;
  check_update(tensor::DType::kF32, one.step, to, g, w, one.state);
  const auto scale = gated_scale(one.step, one.number);
  if (!scale) return;
  const bool finite = pass_of(one.step, to)(
      updater_numbers(one.step, *scale),
      {g.as<float>(), w.as<float>(), one.state[0].as<float>(),
       one.state[1].as<float>(), one.state[2].as<float>(), g.elements()});
  if (!finite) spoil(one.number);
}

}  // namespace

void CpuDevice::update(UpdateTo to, std::span<const Updating> tensors) {
  for (const Updating& one : tensors) update_one(to, one);
}

}  // namespace dl::device
