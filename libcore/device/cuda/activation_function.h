// Activations of one number, and their derivatives, in float32.  NaN stays NaN.

#ifndef DL_LIBCORE_DEVICE_CUDA_ACTIVATION_FUNCTION_H_
#define DL_LIBCORE_DEVICE_CUDA_ACTIVATION_FUNCTION_H_

#include <cmath>

#include "libcore/device/api/activation.h"
#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

// An ActivationSpec as kernels take it.
struct Function {
  Activation kind;
  float alpha, threshold, limit;
  bool approximate;
};
inline Function function_of(const ActivationSpec& f) {
  return {f.kind, static_cast<float>(f.alpha), static_cast<float>(f.threshold),
          static_cast<float>(f.limit), f.approximate};
}

constexpr float kSeluScale = 1.05070098735548F, kSeluAlpha = 1.67326324235438F;

DL_BOTH inline float sigmoid(float x) {
  const float u = std::exp(-std::fabs(x));
  return (x < 0 ? u : 1.0F) / (1.0F + u);
}

// log(1 + exp(x))
DL_BOTH inline float softplus(float x) {
  return (x > 0 ? x : 0.0F) + std::log1p(std::exp(-std::fabs(x)));
}

// A value and its derivative.
struct Smooth {
  float value, slope;
};

// tanh(log(1 + exp(x)))
DL_BOTH inline Smooth mish_share(float x) {
  // ((1 + e)^2 - 1) / ((1 + e)^2 + 1) with e = exp(x); above 0 both divided by
  // e^2.
  const float u = std::exp(-std::fabs(x));
  const bool below = x < 0;
  const float rest = below ? 2.0F : 2.0F * u * u;  // bottom - top
  const float top = below ? u * u + 2.0F * u : 1.0F + 2.0F * u;
  const float bottom = top + rest;
  // (1 - value^2) sigmoid(x)
  const float share = (below ? u : 1.0F) / (1.0F + u);
  return {top / bottom, rest / bottom * ((bottom + top) / bottom) * share};
}

// 1.7159 sgn(v) (1 - 1 / (1 + a)), a = |v| + v^2 + 1.41645 v^4, v = 2 x / 3.
DL_BOTH inline Smooth rational_tanh(float x) {
  const float far = std::fabs(x) * (2.0F / 3);
  const float v = far > 1e6F ? 1e6F : far;  // v^4 is to be finite
  const float s = v * v;
  const float a = v + s + 1.41645F * s * s;
  const float b = 1.0F + a;
  const float rise = 1.0F + 2.0F * v + 4.0F * 1.41645F * v * s;
  return {std::copysign(1.7159F * (a / b), x),
          1.7159F * (2.0F / 3) * (rise / b / b)};
}

// The standard normal distribution.
DL_BOTH inline float normal_below(float x) {
  return 0.5F * std::erfc(x * -0.70710678F);
}

// Gelu by tanh, which is x sigmoid(2 u).
DL_BOTH inline Smooth gelu_by_tanh(float x) {
  constexpr float kScale = 1.59576912F;  // 2 sqrt(2 / pi)
  const float s = x * x;
  const float u = kScale * x * (1.0F + 0.044715F * s);
  const float y = sigmoid(u);
  // y (1 - y) from the side where it keeps its digits.
  const float bend = y * sigmoid(-u);
  const float rise = x * kScale * (1.0F + 3.0F * 0.044715F * s);
  return {x * y, bend == 0 ? y : y + bend * rise};
}

// f(x), but of softmax and log_softmax.
DL_BOTH inline float apply(const Function& f, float x) {
  switch (f.kind) {
    case Activation::kRelu:
      return x < 0 ? 0.0F : x;
    case Activation::kLeakyRelu:
      return x < 0 ? f.alpha * x : x;
    case Activation::kElu:
      return x < 0 ? f.alpha * std::expm1(x) : x;
    case Activation::kGelu:
      return f.approximate ? gelu_by_tanh(x).value : x * normal_below(x);
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSoftplus:
      return softplus(x);
    case Activation::kRelu6:
      return x < 0 ? 0.0F : x > 6.0F ? 6.0F : x;
    case Activation::kCappedRelu:
      if (x >= f.limit) return f.limit;
      return x < f.threshold ? f.alpha * (x - f.threshold) : x;
    case Activation::kThresholdedRelu:
      return x <= f.threshold ? 0.0F : x;
    case Activation::kSelu:
      return kSeluScale * (x < 0 ? kSeluAlpha * std::expm1(x) : x);
    case Activation::kSwish:
      return x * sigmoid(f.alpha * x);
    case Activation::kMish:
      return x * mish_share(x).value;
    case Activation::kSoftsign:
      return x / (1.0F + std::fabs(x));
    case Activation::kCube:
      return x * x * x;
    case Activation::kHardSigmoid: {
      const float y = f.alpha * x + 0.5F;
      return y < 0 ? 0.0F : y > 1.0F ? 1.0F : y;
    }
    case Activation::kHardTanh:
      return x < -1.0F ? -1.0F : x > 1.0F ? 1.0F : x;
    case Activation::kRationalTanh:
      return rational_tanh(x).value;
    case Activation::kRectifiedTanh:
      return x < 0 ? 0.0F : std::tanh(x);
    case Activation::kExp:
      return std::exp(x);
    default:
      return x;
  }
}

// f'(x) of x, for those that gradient_needs_input().
DL_BOTH inline float derivative_at(const Function& f, float x) {
  switch (f.kind) {
    case Activation::kGelu:
      if (f.approximate) return gelu_by_tanh(x).slope;
      return normal_below(x) + x * (0.39894228F * std::exp(-0.5F * x * x));
    case Activation::kSoftplus:
      return sigmoid(x);
    case Activation::kSwish: {
      const float v = f.alpha * x;
      return sigmoid(v) * (1.0F + v * sigmoid(-v));
    }
    case Activation::kMish: {
      const Smooth share = mish_share(x);
      return share.value + x * share.slope;
    }
    case Activation::kCube:
      return 3.0F * x * x;
    default:
      return rational_tanh(x).slope;
  }
}

// f'(x) of y = f(x), for the others.
DL_BOTH inline float derivative(const Function& f, float y) {
  switch (f.kind) {
    case Activation::kRelu:
    case Activation::kThresholdedRelu:
      return y > 0 ? 1.0F : 0.0F;
    case Activation::kLeakyRelu:
      return y > 0 ? 1.0F : f.alpha;
    case Activation::kElu:
      return y > 0 ? 1.0F : y + f.alpha;
    case Activation::kSigmoid:
      return y * (1.0F - y);
    case Activation::kTanh:
      return 1.0F - y * y;
    case Activation::kRelu6:
      return y > 0 && y < 6.0F ? 1.0F : 0.0F;
    case Activation::kCappedRelu:
      return y >= f.limit ? 0.0F : y > 0 ? 1.0F : f.alpha;
    case Activation::kSelu:
      return y > 0 ? kSeluScale : y + kSeluScale * kSeluAlpha;
    case Activation::kSoftsign: {
      const float rest = 1.0F - std::fabs(y);
      return rest * rest;
    }
    case Activation::kHardSigmoid:
      return y > 0 && y < 1.0F ? f.alpha : 0.0F;
    case Activation::kHardTanh:
      return y > -1.0F && y < 1.0F ? 1.0F : 0.0F;
    case Activation::kRectifiedTanh:
      return y <= 0 ? 0.0F : 1.0F - y * y;
    case Activation::kExp:
      return y;
    default:
      return 1.0F;
  }
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_ACTIVATION_FUNCTION_H_
