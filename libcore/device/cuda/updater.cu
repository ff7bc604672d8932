// Training steps of parameters, as dl-network(5) writes them, in one pass over
// memory.

#include <cmath>
#include <utility>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/number.h"
#include "libcore/device/updater_numbers.h"

namespace dl::device::cuda {
namespace {

// A parameter's state: what it was, and then what it is.
struct State {
  float m, v, x;
};

DL_BOTH inline void keep_means(const UpdaterNumbers& p, float g, State& s) {
  s.m = p.beta1 * s.m + p.mean * g;
  s.v = p.beta2 * s.v + p.square * g * g;
}

// Makes the update of a gradient and moves the state.
DL_BOTH inline float update_of(Updater kind, const UpdaterNumbers& p, float g,
                               State& s) {
  switch (kind) {
    case Updater::kNesterov: {
      const float carried = p.momentum * s.m;
      s.m = carried - p.rate * g;
      return carried - (1.0F + p.momentum) * s.m;
    }
    case Updater::kMomentum:
      s.m = p.momentum * s.m - p.rate * g;
      return -s.m;
    case Updater::kAdaGrad:
      s.m += g * g;
      return p.rate * g / (std::sqrt(s.m + p.inside) + p.epsilon);
    case Updater::kRmsProp:
      s.m = p.beta2 * s.m + p.square * g * g;
      return p.rate * g / (std::sqrt(s.m + p.inside) + p.epsilon);
    case Updater::kAdam:
    case Updater::kAdamW:
      keep_means(p, g, s);
      return p.rate * s.m / (std::sqrt(s.v) + p.epsilon);
    case Updater::kAmsGrad:
      keep_means(p, g, s);
      s.x = s.v > s.x ? s.v : s.x;
      return p.rate * s.m / (std::sqrt(s.x) + p.epsilon);
    case Updater::kAdaMax: {
      s.m = p.beta1 * s.m + p.mean * g;
      const float before = p.beta2 * s.v, now = std::fabs(g) + p.epsilon;
      s.v = before > now ? before : now;
      return p.rate * s.m / s.v;
    }
    case Updater::kNadam:
      keep_means(p, g, s);
      return (p.rate * s.m + p.nudge * g) / (std::sqrt(s.v) + p.epsilon);
    case Updater::kAdaBelief: {
      s.m = p.beta1 * s.m + p.mean * g;
      const float surprise = g - s.m;
      s.v = p.beta2 * s.v + p.square * surprise * surprise + p.epsilon;
      return p.rate * s.m / (std::sqrt(s.v) + p.epsilon);
    }
    case Updater::kAdaDelta: {  // m: the mean of squared updates
      s.v = p.beta2 * s.v + p.square * g * g;
      const float u =
          g * std::sqrt(s.m + p.epsilon) / std::sqrt(s.v + p.epsilon);
      s.m = p.beta2 * s.m + p.square * u * u;
      return p.rate * u;
    }
    default:
      return p.rate * g;
  }
}

struct Update {  // without gaps, as graphs compare all bytes
  Updater kind;
  UpdaterNumbers p;
  std::int32_t apply;  // w -= u; else g = u
  double given_scale;
  float *g, *w, *m, *v, *x;  // null: not there, or not needed
  double* number;
  const double *guard, *factor;  // likewise

  DL_DEVICE void operator()(std::int64_t i) const {
    if (guard != nullptr && *guard != *guard) {
      *number = NAN;
      return;
    }
    const float scale =
        factor != nullptr ? static_cast<float>(*factor * given_scale) : p.scale;
    const float weight = w != nullptr ? w[i] : 0.0F;
    State s{m != nullptr ? m[i] : 0.0F, v != nullptr ? v[i] : 0.0F,
            x != nullptr ? x[i] : 0.0F};
    float gradient = scale * g[i];
    gradient = gradient > p.limit ? p.limit : gradient;  // NaN stays
    gradient = gradient < -p.limit ? -p.limit : gradient;
    const float sign = weight > 0 ? 1.0F : weight < 0 ? -1.0F : 0.0F;
    gradient += p.l2 * weight + p.l1 * sign;
    const float u = update_of(kind, p, gradient, s) + p.decay * weight;
    const float written = apply != 0 ? weight - u : u;
    (apply != 0 ? w : g)[i] = written;
    if (m != nullptr) m[i] = s.m;
    if (v != nullptr) v[i] = s.v;
    if (x != nullptr) x[i] = s.x;
    // All that write here write the same.
    if (!is_finite(written) || !is_finite(s.m) || !is_finite(s.v) ||
        !is_finite(s.x))
      *number = NAN;
  }

  static DL_DEVICE bool is_finite(float x) { return std::fabs(x) < INFINITY; }
};

// Updates of several tensors, each with blocks of its own.
struct Updates {
  static constexpr int kTogether = 4;
  static constexpr int kMost = 16;  // CUDA takes 4 KB of arguments
  std::int64_t count = 0;
  std::int64_t begin[kMost] = {};  // each one's first block
  std::int64_t elements[kMost] = {};
  Update each[kMost] = {};

  DL_DEVICE void operator()(const Block& block) const {
    int u = 0;
    while (u + 1 < count && block.index >= begin[u + 1]) ++u;
    const std::int64_t i =
        (block.index - begin[u]) * block.threads + block.thread;
    if (i < elements[u]) each[u](i);
  }
};

Update update_of(UpdateTo to, const Updating& one) {
  const UpdaterStep& step = one.step;
  check_update(tensor::DType::kF32, step, to, one.gradient, one.parameters,
               one.state);
  const std::int32_t apply = to == UpdateTo::kParameters;
  const bool looks_at_w =
      apply != 0 || step.l1 != 0 || step.l2 != 0 || step.decay != 0;
  const int components = state_per_parameter(step.kind);
  const auto part = [&](int i) {
    return i < components ? one.state[static_cast<std::size_t>(i)].as<float>()
                          : nullptr;
  };
  return {step.kind,
          updater_numbers(step, step.scale),
          apply,
          step.scale,
          one.gradient.as<float>(),
          looks_at_w ? one.parameters.as<float>() : nullptr,
          part(0),
          part(1),
          part(2),
          number_at(one.number),
          number_if_any(step.guard),
          number_if_any(step.factor)};
}

}  // namespace

void CudaDevice::update(UpdateTo to, std::span<const Updating> tensors) {
  Updates updates;
  std::int64_t blocks = 0;
  const auto launch = [&] {
    whole_blocks(stream_, std::exchange(blocks, 0), 0,
                 std::exchange(updates, {}));
  };
  for (const Updating& one : tensors) {
    const std::int64_t n = one.gradient.elements();
    const std::int64_t u = updates.count++;
    updates.begin[u] = blocks;
    updates.elements[u] = n;
    updates.each[u] = update_of(to, one);
    blocks += (n + kThreads - 1) / kThreads;
    if (updates.count == Updates::kMost) launch();
  }
  launch();
}

}  // namespace dl::device::cuda
