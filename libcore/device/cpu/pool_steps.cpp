// Pooling over steps, by strips of features side by side; sums in double.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// Some features of one example: rows of steps, c apart.
struct StepStrip {
  std::int64_t steps, c, width;
  const float* mask;  // [steps], or null

  bool counts(std::int64_t s) const { return !mask || mask[s] != 0; }
  std::int64_t count() const {
    std::int64_t n = 0;
    for (std::int64_t s = 0; s < steps; ++s) n += counts(s) ? 1 : 0;
    return n;
  }
};

DL_VECTOR void max_steps(float* y, const float* x, StepStrip t) {
  bool first = true;
  for (std::int64_t s = 0; s < t.steps; ++s, x += t.c) {
    if (!t.counts(s)) continue;
    if (first) {
      std::copy_n(x, t.width, y);
      first = false;
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < t.width; ++i) {
      const bool better = !(x[i] <= y[i]) && y[i] == y[i];  // NaN wins
      y[i] = better ? x[i] : y[i];
    }
  }
  if (first) std::fill_n(y, t.width, 0.0f);
}

// Gives the first maximum of each feature its gradient.
DL_VECTOR void max_steps_gradient(float* dx, const float* dy, const float* y,
                                  const float* x, StepStrip t) {
  std::int32_t found[kStrip] = {};
  for (std::int64_t s = 0; s < t.steps; ++s, x += t.c, dx += t.c) {
    if (!t.counts(s)) {
      std::fill_n(dx, t.width, 0.0f);
      continue;
    }
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < t.width; ++i) {
      const bool same = x[i] == y[i] || (x[i] != x[i] && y[i] != y[i]);
      const bool wins = same && found[i] == 0;
      dx[i] = wins ? dy[i] : 0.0f;
      found[i] = same ? 1 : found[i];
    }
  }
}

// sum += |x|^p; kP 0: any p.
template <int kP>
DL_VECTOR void add_powers(double* sum, const float* x, double p,
                          std::int64_t n) {
  if (kP == 0) {
    for (std::int64_t i = 0; i < n; ++i) sum[i] += std::pow(std::fabs(x[i]), p);
    return;
  }
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = x[i];
    sum[i] += kP == 2 ? value * value : std::fabs(value);
  }
}

DL_VECTOR void add_values(double* sum, const float* x, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) sum[i] += x[i];
}

DL_VECTOR void scale_strip(float* dx, const float* dy, float factor,
                           std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * factor;
}

// dx = dy sign(x) (|x| / y)^(p - 1), 0 where y or x is 0.
template <int kP>
DL_VECTOR void power_gradient(float* dx, const float* dy, const float* y,
                              const float* x, double p, std::int64_t n) {
  const auto exponent = static_cast<float>(p - 1);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const float share = std::fabs(x[i]) / (y[i] == 0 ? 1.0f : y[i]);
    const float slope = kP == 2      ? share
                        : share == 0 ? 0.0f
                        : kP == 1    ? 1.0f
                                     : std::pow(share, exponent);
    dx[i] = dy[i] * std::copysign(slope, x[i]);
  }
}

}  // namespace kernels

namespace {

using kernels::StepStrip;
using tensor::DType;
using tensor::View;

// Calls f(y, x, strip) with the offsets and the extent of each strip.
template <typename F>
void for_each_strip(const Steps& of, const View& mask, F f) {
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t c = 0; c < of.c; c += kStrip)
      f(n * of.c + c, n * of.s * of.c + c,
        StepStrip{of.s, of.c, std::min(kStrip, of.c - c),
                  mask.empty() ? nullptr : mask.as<float>() + n * of.s});
}

auto powers_of(double p) {
  return p == 2   ? kernels::add_powers<2>
         : p == 1 ? kernels::add_powers<1>
                  : kernels::add_powers<0>;
}

auto power_gradient_of(double p) {
  return p == 2   ? kernels::power_gradient<2>
         : p == 1 ? kernels::power_gradient<1>
                  : kernels::power_gradient<0>;
}

void sum_steps(const PoolSteps& spec, float* y, const float* x,
               const StepStrip& t) {
  double sum[kStrip] = {};
  const bool norm = spec.kind == StepPooling::kPNorm;
  for (std::int64_t s = 0; s < t.steps; ++s) {
    if (!t.counts(s)) continue;
    if (norm)
      powers_of(spec.p)(sum, x + s * t.c, spec.p, t.width);
    else
      kernels::add_values(sum, x + s * t.c, t.width);
  }
  const double share =
      spec.kind == StepPooling::kAverage
          ? 1.0 / static_cast<double>(std::max<std::int64_t>(t.count(), 1))
          : 1.0;
  for (std::int64_t i = 0; i < t.width; ++i)
    y[i] = static_cast<float>(!norm         ? sum[i] * share
                              : spec.p == 2 ? std::sqrt(sum[i])
                                            : std::pow(sum[i], 1 / spec.p));
}

}  // namespace

void CpuDevice::pool_steps(const PoolSteps& spec, View y, View x, View mask) {
  const Steps of = check_pool_steps(DType::kF32, spec, y, x, mask);
  for_each_strip(of, mask, [&](auto to, auto from, const StepStrip& strip) {
    if (spec.kind == StepPooling::kMax)
      kernels::max_steps(y.as<float>() + to, x.as<float>() + from, strip);
    else
      sum_steps(spec, y.as<float>() + to, x.as<float>() + from, strip);
  });
}

void CpuDevice::pool_steps_gradient(const PoolSteps& spec, View dx, View dy,
                                    View y, View x, View mask) {
  const Steps of = check_pool_steps(DType::kF32, spec, y, x, mask);
  check_pool_steps(DType::kF32, spec, dy, dx, mask);
  for_each_strip(of, mask, [&](auto from, auto to, const StepStrip& t) {
    const float *slope = dy.as<float>() + from, *norm = y.as<float>() + from,
                *value = x.as<float>() + to;
    float* result = dx.as<float>() + to;
    if (spec.kind == StepPooling::kMax)
      return kernels::max_steps_gradient(result, slope, norm, value, t);
    const float share = spec.kind == StepPooling::kAverage
                            ? 1.0f / static_cast<float>(t.count())
                            : 1.0f;
    for (std::int64_t s = 0; s < t.steps; ++s, result += t.c, value += t.c) {
      if (!t.counts(s))
        std::fill_n(result, t.width, 0.0f);
      else if (spec.kind == StepPooling::kPNorm)
        power_gradient_of(spec.p)(result, slope, norm, value, spec.p, t.width);
      else
        kernels::scale_strip(result, slope, share, t.width);
    }
  });
}

}  // namespace dl::device
