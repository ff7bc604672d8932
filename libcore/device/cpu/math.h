// exp() and what is made of it, in a form that loops vectorise; within a few
// units in the last place of float32.  NaN stays NaN.

#ifndef DL_LIBCORE_DEVICE_CPU_MATH_H_
#define DL_LIBCORE_DEVICE_CPU_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "libcore/device/cpu/simd.h"

namespace dl::device {

// x = k log 2 + r, |r| <= log(2) / 2; log 2 in two parts, the first exact in
// products with k.
struct ExpParts {
  float r;
  std::uint32_t k;  // in the lowest bits
  // 2^(k + bias - 127)
  DL_INLINE float power(std::uint32_t bias = 127u) const {
    return std::bit_cast<float>((k + bias) << 23);
  }
};
DL_INLINE ExpParts exp_parts(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to int
  const float shifted = x * 1.44269504f + kRound;
  const float k = shifted - kRound;
  return {(x - k * 0.693359375f) + k * 2.12194440e-4f,
          std::bit_cast<std::uint32_t>(shifted)};
}

// (exp(r) - 1) / r, the Taylor series.
DL_INLINE float exp_series(float r) {
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  return p * r + 1.0f;
}

// exp(x) for x <= 87; 1e-38 where it would be less.
DL_INLINE float exp_down(float x) {
  const ExpParts parts = exp_parts(x < -87.0f ? -87.0f : x);
  return (exp_series(parts.r) * parts.r + 1.0f) * parts.power();
}

// exp(x); 1e-38 where it would be less, infinity where it would be too large.
DL_INLINE float exp_of(float x) {
  // Above 0 as 2 exp(x - log 2), for 2^128 is no float32.
  x = x > 89.0f ? 89.0f : x < -87.0f ? -87.0f : x;
  const ExpParts parts = exp_parts(x);
  return (exp_series(parts.r) * parts.r + 1.0f) *
         parts.power(x > 0 ? 126u : 127u) * (x > 0 ? 2.0f : 1.0f);
}

DL_INLINE float sigmoid(float x) {
  const float e = exp_down(-std::fabs(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

// -m / (2 + m) with m = exp(-2 |x|) - 1 = 2^k (exp(r) - 1) + (2^k - 1), which
// keeps its digits near 0.
DL_INLINE float tanh_of(float x) {
  const float a = std::fabs(x);
  const ExpParts parts = exp_parts(a > 10.0f ? -20.0f : -2.0f * a);
  const float power = parts.power();
  const float m = power * (exp_series(parts.r) * parts.r) + (power - 1.0f);
  return std::copysign(m / (2.0f + m), x);
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

// tanh(log(1 + exp(x))), and its derivative.
struct Mish {
  float value, slope;
};
DL_INLINE Mish mish_at(float x) {
  // ((1 + e)^2 - 1) / ((1 + e)^2 + 1) with e = exp(x); above 0 both divided by
  // e^2.
  const float u = exp_down(-std::fabs(x));
  const bool below = x < 0;
  const float rest = below ? 2.0f : 2.0f * u * u;  // bottom - top
  const float top = below ? u * u + 2.0f * u : 1.0f + 2.0f * u;
  const float bottom = top + rest;
  // (1 - value^2) sigmoid(x)
  const float share = (below ? u : 1.0f) / (1.0f + u);
  return {top / bottom, rest / bottom * ((bottom + top) / bottom) * share};
}

DL_INLINE float softsign(float x) { return x / (1.0f + std::fabs(x)); }

DL_INLINE float hard_tanh(float x) {
  return x < -1.0f ? -1.0f : x > 1.0f ? 1.0f : x;
}

DL_INLINE float hard_sigmoid(float slope, float x) {
  const float y = slope * x + 0.5f;
  return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
}

// 1.7159 sgn(v) (1 - 1 / (1 + a)), a = |v| + v^2 + 1.41645 v^4, v = 2 x / 3,
// and its derivative.
struct RationalTanh {
  float value, slope;
};
DL_INLINE RationalTanh rational_tanh_at(float x) {
  const float far = std::fabs(x) * (2.0f / 3);
  const float v = far > 1e6f ? 1e6f : far;  // v^4 is to be finite
  const float s = v * v;
  const float a = v + s + 1.41645f * s * s;
  const float b = 1.0f + a;
  const float rise = 1.0f + 2.0f * v + 4.0f * 1.41645f * v * s;
  return {std::copysign(1.7159f * (a / b), x),
          1.7159f * (2.0f / 3) * (rise / b / b)};
}

// The share of x in gelu by tanh, x sigmoid(2 u), and its derivative.
struct GeluTanh {
  float share, slope;
};
DL_INLINE GeluTanh gelu_tanh_at(float x) {
  constexpr float kScale = 1.59576912f;  // 2 sqrt(2 / pi)
  const float s = x * x;
  const float u = kScale * x * (1.0f + 0.044715f * s);
  const float y = sigmoid(u);
  // y (1 - y) from the side where it keeps its digits.
  const float rest = sigmoid(-u);
  return {y, y + x * y * rest * kScale * (1.0f + 3.0f * 0.044715f * s)};
}

// log(x) for finite x > 0 that is no denormal: of m 2^k, m about 1.
// Coefficients from the Cephes library.
DL_INLINE float log_of(float x) {
  constexpr std::int32_t kRootHalf = 0x3f3504f3;
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t k = (bits - kRootHalf) >> 23;
  const float f = std::bit_cast<float>(bits - k * (1 << 23)) - 1.0f;
  const auto power = static_cast<float>(k);
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  p = p * f * f * f - power * 2.12194440e-4f - 0.5f * f * f;
  return x == x ? f + p + power * 0.693359375f : x;
}

// x^p for such x, where the result is neither above 1e37 nor below 1e-37.
DL_INLINE float power_of(float x, float p) {
  const float e = p * log_of(x);
  return exp_down(e > 87.0f ? 87.0f : e);
}

// cos(2 pi x) for x in [0, 1): the Taylor series of the sine of what is left to
// a quarter turn.
DL_INLINE float cos_of_turns(float x) {
  const float t = x < 0.5f ? x : 1.0f - x;
  const float a = 6.28318531f * (0.25f - t);
  const float s = a * a;
  float p = 1.0f / 6227020800;
  p = p * s - 1.0f / 39916800;
  p = p * s + 1.0f / 362880;
  p = p * s - 1.0f / 5040;
  p = p * s + 1.0f / 120;
  p = p * s - 1.0f / 6;
  return a + a * s * p;
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
