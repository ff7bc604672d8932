// exp() and what is made of it, in a form that loops vectorise; within a few
// units in the last place of float32.  NaN stays NaN.

#ifndef DL_LIBCORE_DEVICE_CPU_MATH_H_
#define DL_LIBCORE_DEVICE_CPU_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "libcore/device/cpu/vectorize.h"

namespace dl::device {

// exp(x) for x <= 0; 1e-38 where it would be less.
DL_INLINE float exp_down(float x) {
  // x = k log 2 + r, |r| <= log(2) / 2; log 2 in two parts, the first exact
  // in products with k.
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to int
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 1.44269504f + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  // The Taylor series of exp(r).
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u)
                                 << 23;
  return p * std::bit_cast<float>(exponent);
}

DL_INLINE float sigmoid(float x) {
  const float e = exp_down(-std::fabs(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

DL_INLINE float tanh_of(float x) {
  const float a = std::fabs(x);
  const float e = exp_down(-2.0f * a);
  const float large = (1.0f - e) / (1.0f + e);
  // Below 0.3 the quotient loses digits; the Taylor series has them.
  const float s = x * x;
  float p = -1382.0f / 155925;
  p = p * s + 62.0f / 2835;
  p = p * s - 17.0f / 315;
  p = p * s + 2.0f / 15;
  p = p * s - 1.0f / 3;
  const float small = x + x * s * p;
  return a < 0.3f ? small : std::copysign(large, x);
}

// exp(x) - 1 for x <= 0.
DL_INLINE float expm1_down(float x) {
  float p = 1.0f / 5040;
  p = p * x + 1.0f / 720;
  p = p * x + 1.0f / 120;
  p = p * x + 1.0f / 24;
  p = p * x + 1.0f / 6;
  p = p * x + 0.5f;
  const float small = x + x * x * p;
  return x > -0.3f ? small : exp_down(x) - 1.0f;
}

// log(1 + exp(x))
DL_INLINE float softplus(float x) {
  const float u = exp_down(-std::fabs(x));
  // log(1 + u) = 2 atanh(u / (2 + u)), the argument at most 1/3.
  const float s = u / (2.0f + u);
  const float q = s * s;
  float p = 1.0f / 13;
  p = p * q + 1.0f / 11;
  p = p * q + 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  return (x > 0 ? x : 0.0f) + 2.0f * (s + s * q * p);
}

// The standard normal distribution and its density.  Abramowitz and Stegun,
// Handbook of Mathematical Functions, 7.1.26: within 0.75e-7.
struct Normal {
  float below, density;
};
DL_INLINE Normal normal_at(float x) {
  const float e = exp_down(-0.5f * x * x);
  const float t = 1.0f / (1.0f + 0.3275911f * 0.70710678f * std::fabs(x));
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const float tail = 0.5f * p * t * e;
  return {x < 0 ? tail : 1.0f - tail, 0.39894228f * e};
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_MATH_H_
