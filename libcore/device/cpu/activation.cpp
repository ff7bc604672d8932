// Activations and their derivatives, a loop each.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// The numbers of an ActivationSpec.
struct ActivationNumbers {
  float alpha, threshold, limit;
};

constexpr float kSeluScale = 1.05070098735548F, kSeluAlpha = 1.67326324235438F;

// A kernel y[i] = VALUE of x[i] (as v); one gradient dx[i] = dy[i] * SLOPE of
// y[i] or x[i] (as v).  The ActivationNumbers are at hand.
#define DL_ACTIVATION(NAME, VALUE)                                   \
  DL_VECTOR void NAME(float* y, const float* x, std::int64_t n,      \
                      ActivationNumbers numbers) {                   \
    [[maybe_unused]] const auto [alpha, threshold, limit] = numbers; \
    DL_INDEPENDENT                                                   \
    for (std::int64_t i = 0; i < n; ++i) {                           \
      const float v = x[i];                                          \
      y[i] = VALUE;                                                  \
    }                                                                \
  }
#define DL_GRADIENT(NAME, SLOPE)                                     \
  DL_VECTOR void NAME(float* dx, const float* dy, const float* from, \
                      std::int64_t n, ActivationNumbers numbers) {   \
    [[maybe_unused]] const auto [alpha, threshold, limit] = numbers; \
    DL_INDEPENDENT                                                   \
    for (std::int64_t i = 0; i < n; ++i) {                           \
      const float v = from[i];                                       \
      dx[i] = dy[i] * (SLOPE);                                       \
    }                                                                \
  }

DL_ACTIVATION(relu, v < 0 ? 0.0f : v)
DL_ACTIVATION(leaky_relu, v < 0 ? alpha * v : v)
DL_ACTIVATION(elu, v < 0 ? alpha * expm1_down(v) : v)
DL_ACTIVATION(gelu, v* normal_at(v).below)
DL_ACTIVATION(sigmoid_of, sigmoid(v))
DL_ACTIVATION(tanh_each, tanh_of(v))
DL_ACTIVATION(softplus_of, softplus(v))
DL_ACTIVATION(relu6, v<0 ? 0.0f : v> 6.0f ? 6.0f : v)
DL_ACTIVATION(capped_relu, v >= limit      ? limit
                           : v < threshold ? alpha * (v - threshold)
                                           : v)
DL_ACTIVATION(thresholded_relu, v <= threshold ? 0.0f : v)
DL_ACTIVATION(selu, kSeluScale*(v < 0 ? kSeluAlpha * expm1_down(v) : v))
DL_ACTIVATION(swish, v* sigmoid(alpha* v))
DL_ACTIVATION(mish, v* mish_at(v).value)
DL_ACTIVATION(softsign_of, softsign(v))
DL_ACTIVATION(cube, v* v* v)
DL_ACTIVATION(hard_sigmoid_of, hard_sigmoid(alpha, v))
DL_ACTIVATION(hard_tanh_of, hard_tanh(v))
DL_ACTIVATION(rational_tanh, rational_tanh_at(v).value)
DL_ACTIVATION(rectified_tanh, v < 0 ? 0.0f : tanh_of(v))
DL_ACTIVATION(exp_each, exp_of(v))
DL_ACTIVATION(gelu_tanh, v* gelu_tanh_at(v).share)

DL_GRADIENT(relu_gradient, v > 0 ? 1.0f : 0.0f)
DL_GRADIENT(leaky_relu_gradient, v > 0 ? 1.0f : alpha)
DL_GRADIENT(elu_gradient, v > 0 ? 1.0f : v + alpha)
DL_GRADIENT(gelu_gradient, normal_at(v).below + v * normal_at(v).density)
DL_GRADIENT(sigmoid_gradient, v*(1.0f - v))
DL_GRADIENT(tanh_gradient, 1.0f - v * v)
DL_GRADIENT(softplus_gradient, sigmoid(v))
DL_GRADIENT(relu6_gradient, v > 0 && v < 6.0f ? 1.0f : 0.0f)
DL_GRADIENT(capped_relu_gradient, v >= limit ? 0.0f : v > 0 ? 1.0f : alpha)
DL_GRADIENT(selu_gradient, v > 0 ? kSeluScale : v + kSeluScale * kSeluAlpha)
DL_GRADIENT(swish_gradient,
            sigmoid(alpha* v) * (1.0f + alpha * v * sigmoid(-alpha * v)))
DL_GRADIENT(mish_gradient, mish_at(v).value + v * mish_at(v).slope)
DL_GRADIENT(softsign_gradient, (1.0f - std::fabs(v)) * (1.0f - std::fabs(v)))
DL_GRADIENT(cube_gradient, 3.0f * v * v)
DL_GRADIENT(hard_sigmoid_gradient, v > 0 && v < 1.0f ? alpha : 0.0f)
DL_GRADIENT(hard_tanh_gradient, v > -1.0f && v < 1.0f ? 1.0f : 0.0f)
DL_GRADIENT(rational_tanh_gradient, rational_tanh_at(v).slope)
DL_GRADIENT(rectified_tanh_gradient, v <= 0 ? 0.0f : 1.0f - v * v)
DL_GRADIENT(exp_gradient, v)
DL_GRADIENT(gelu_tanh_gradient, gelu_tanh_at(v).slope)

#undef DL_ACTIVATION
#undef DL_GRADIENT

DL_VECTOR void softmax_row(float* y, const float* x, std::int64_t n) {
  const float top = *std::max_element(x, x + n);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = exp_down(x[i] - top);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += y[i];
  const auto share = static_cast<float>(1 / sum);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] *= share;
}

DL_VECTOR void softmax_row_gradient(float* dx, const float* dy, const float* y,
                                    std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(dy[i]) * y[i];
  const auto dot = static_cast<float>(sum);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - dot);
}

DL_VECTOR void log_softmax_row(float* y, const float* x, std::int64_t n) {
  const float top = *std::max_element(x, x + n);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] - top;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += exp_down(y[i]);
  const auto log_sum = static_cast<float>(std::log(sum));
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] -= log_sum;
}

DL_VECTOR void log_softmax_row_gradient(float* dx, const float* dy,
                                        const float* y, std::int64_t n) {
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += dy[i];
  const auto sum = static_cast<float>(total);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] - exp_down(y[i]) * sum;
}

}  // namespace kernels

namespace {

// Kernels of a function, for one number and for a row.
struct ElementKernels {
  void (*forward)(float*, const float*, std::int64_t,
                  kernels::ActivationNumbers);
  void (*gradient)(float*, const float*, const float*, std::int64_t,
                   kernels::ActivationNumbers);
};
struct RowKernels {
  void (*forward)(float*, const float*, std::int64_t);
  void (*gradient)(float*, const float*, const float*, std::int64_t);
};

ElementKernels kernels_of(const ActivationSpec& f) {
  using namespace kernels;
  switch (f.kind) {
    case Activation::kRelu:
      return {relu, relu_gradient};
    case Activation::kLeakyRelu:
      return {leaky_relu, leaky_relu_gradient};
    case Activation::kElu:
      return {elu, elu_gradient};
    case Activation::kGelu:
      return f.approximate ? ElementKernels{gelu_tanh, gelu_tanh_gradient}
                           : ElementKernels{gelu, gelu_gradient};
    case Activation::kSigmoid:
      return {sigmoid_of, sigmoid_gradient};
    case Activation::kTanh:
      return {tanh_each, tanh_gradient};
    case Activation::kSoftplus:
      return {softplus_of, softplus_gradient};
    case Activation::kRelu6:
      return {relu6, relu6_gradient};
    case Activation::kCappedRelu:
      return {capped_relu, capped_relu_gradient};
    case Activation::kThresholdedRelu:
      return {thresholded_relu, relu_gradient};
    case Activation::kSelu:
      return {selu, selu_gradient};
    case Activation::kSwish:
      return {swish, swish_gradient};
    case Activation::kMish:
      return {mish, mish_gradient};
    case Activation::kSoftsign:
      return {softsign_of, softsign_gradient};
    case Activation::kCube:
      return {cube, cube_gradient};
    case Activation::kHardSigmoid:
      return {hard_sigmoid_of, hard_sigmoid_gradient};
    case Activation::kHardTanh:
      return {hard_tanh_of, hard_tanh_gradient};
    case Activation::kRationalTanh:
      return {rational_tanh, rational_tanh_gradient};
    case Activation::kRectifiedTanh:
      return {rectified_tanh, rectified_tanh_gradient};
    default:
      require(f.kind == Activation::kExp, "an unknown activation");
      return {exp_each, exp_gradient};
  }
}

// Null where the function goes number by number.
const RowKernels* row_kernels_of(Activation kind) {
  static constexpr RowKernels kSoftmax{kernels::softmax_row,
                                       kernels::softmax_row_gradient};
  static constexpr RowKernels kLogSoftmax{kernels::log_softmax_row,
                                          kernels::log_softmax_row_gradient};
  if (kind == Activation::kSoftmax) return &kSoftmax;
  return kind == Activation::kLogSoftmax ? &kLogSoftmax : nullptr;
}

kernels::ActivationNumbers numbers_of(const ActivationSpec& f) {
  return {static_cast<float>(f.alpha), static_cast<float>(f.threshold),
          static_cast<float>(f.limit)};
}

}  // namespace

void CpuDevice::activate(const ActivationSpec& f, View y, View x) {
  check_reals(tensor::DType::kF32, {y, x});
  check_same_shape(y, x);
  if (f.kind == Activation::kIdentity) {
    if (y.data != x.data) copy(y, x);
    return;
  }
  const RowKernels* rows = row_kernels_of(f.kind);
  if (rows == nullptr) {
    kernels_of(f).forward(y.as<float>(), x.as<float>(), x.elements(),
                          numbers_of(f));
    return;
  }
  const auto [count, length] = rows_of(x);
  for (std::int64_t i = 0; i < count; ++i)
    rows->forward(y.as<float>() + i * length, x.as<float>() + i * length,
                  length);
}

void CpuDevice::activate_gradient(const ActivationSpec& f, View dx, View dy,
                                  View y, View x) {
  check_reals(tensor::DType::kF32, {dx, dy, y});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  const bool of_input = gradient_needs_input(f.kind);
  if (of_input) {
    check_reals(tensor::DType::kF32, {x});
    check_same_shape(dx, x);
  }
  if (f.kind == Activation::kIdentity) {
    if (dx.data != dy.data) copy(dx, dy);
    return;
  }
  const RowKernels* rows = row_kernels_of(f.kind);
  if (rows == nullptr) {
    const View& from = of_input ? x : y;
    kernels_of(f).gradient(dx.as<float>(), dy.as<float>(), from.as<float>(),
                           dx.elements(), numbers_of(f));
    return;
  }
  const auto [count, length] = rows_of(y);
  for (std::int64_t i = 0; i < count; ++i)
    rows->gradient(dx.as<float>() + i * length, dy.as<float>() + i * length,
                   y.as<float>() + i * length, length);
}

}  // namespace dl::device
