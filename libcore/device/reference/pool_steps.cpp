// Pooling over steps, one element of the result after the other.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::View;

// Calls f(i) with the offsets of what element [n, c] of the result is made of.
template <typename F>
void for_each_step(const Steps& of, const View& mask, std::int64_t n,
                   std::int64_t c, F f) {
  for (std::int64_t s = 0; s < of.s; ++s)
    if (mask.empty() || mask.as<double>()[n * of.s + s] != 0)
      f((n * of.s + s) * of.c + c);
}

// The first of equals, a NaN before any number; -1: there is none.
std::int64_t largest(const Steps& of, const View& mask, const double* x,
                     std::int64_t n, std::int64_t c) {
  std::int64_t best = -1;
  for_each_step(of, mask, n, c, [&](auto i) {
    if (best < 0 || x[i] > x[best] ||
        (std::isnan(x[i]) && !std::isnan(x[best])))
      best = i;
  });
  return best;
}

}  // namespace

void ReferenceDevice::pool_steps(const PoolSteps& spec, View y, View x,
                                 View mask) {
  const Steps of = check_pool_steps(DType::kF64, spec, y, x, mask);
  const double* from = x.as<double>();
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t c = 0; c < of.c; ++c) {
      double sum = 0, count = 0, powers = 0;
      for_each_step(of, mask, n, c, [&](auto i) {
        sum += from[i];
        powers += std::pow(std::abs(from[i]), spec.p);
        ++count;
      });
      const std::int64_t best = largest(of, mask, from, n, c);
      double& to = y.as<double>()[n * of.c + c];
      if (count == 0)
        to = 0;
      else if (spec.kind == StepPooling::kMax)
        to = from[best];
      else if (spec.kind == StepPooling::kPNorm)
        to = std::pow(powers, 1 / spec.p);
      else
        to = spec.kind == StepPooling::kSum ? sum : sum / count;
    }
}

void ReferenceDevice::pool_steps_gradient(const PoolSteps& spec, View dx,
                                          View dy, View y, View x, View mask) {
  const Steps of = check_pool_steps(DType::kF64, spec, y, x, mask);
  check_pool_steps(DType::kF64, spec, dy, dx, mask);
  std::fill_n(dx.as<double>(), dx.elements(), 0.0);
  const double* from = x.as<double>();
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t c = 0; c < of.c; ++c) {
      const double slope = dy.as<double>()[n * of.c + c];
      const double norm = y.as<double>()[n * of.c + c];
      const std::int64_t best = largest(of, mask, from, n, c);
      double count = 0;
      for_each_step(of, mask, n, c, [&](auto) { ++count; });
      for_each_step(of, mask, n, c, [&](auto i) {
        double share = 1;
        if (spec.kind == StepPooling::kMax) share = i == best ? 1 : 0;
        if (spec.kind == StepPooling::kAverage) share = 1 / count;
        if (spec.kind == StepPooling::kPNorm)
          share = norm == 0 || from[i] == 0
                      ? 0
                      : std::copysign(
                            std::pow(std::abs(from[i]) / norm, spec.p - 1),
                            from[i]);
        dx.as<double>()[i] = slope * share;
      });
    }
}

}  // namespace dl::device
