// Activations and their derivatives, a loop each.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

// A kernel y[i] = VALUE of x[i] (as v); one gradient dx[i] = dy[i] * SLOPE of
// y[i] or x[i] (as v).  `alpha` is at hand.
#define DL_ACTIVATION(NAME, VALUE)                              \
  DL_VECTOR void NAME(float* y, const float* x, std::int64_t n, \
                      [[maybe_unused]] float alpha) {           \
    DL_INDEPENDENT                                              \
    for (std::int64_t i = 0; i < n; ++i) {                      \
      const float v = x[i];                                     \
      y[i] = VALUE;                                             \
    }                                                           \
  }
#define DL_GRADIENT(NAME, SLOPE)                                      \
  DL_VECTOR void NAME(float* dx, const float* dy, const float* from,  \
                      std::int64_t n, [[maybe_unused]] float alpha) { \
    DL_INDEPENDENT                                                    \
    for (std::int64_t i = 0; i < n; ++i) {                            \
      const float v = from[i];                                        \
      dx[i] = dy[i] * (SLOPE);                                        \
    }                                                                 \
  }

DL_ACTIVATION(relu, v < 0 ? 0.0f : v)
DL_ACTIVATION(leaky_relu, v < 0 ? alpha * v : v)
DL_ACTIVATION(elu, v < 0 ? alpha * expm1_down(v) : v)
DL_ACTIVATION(gelu, v* normal_at(v).below)
DL_ACTIVATION(sigmoid_of, sigmoid(v))
DL_ACTIVATION(tanh_each, tanh_of(v))
DL_ACTIVATION(softplus_of, softplus(v))

DL_GRADIENT(relu_gradient, v > 0 ? 1.0f : 0.0f)
DL_GRADIENT(leaky_relu_gradient, v > 0 ? 1.0f : alpha)
DL_GRADIENT(elu_gradient, v > 0 ? 1.0f : v + alpha)
DL_GRADIENT(gelu_gradient, normal_at(v).below + v * normal_at(v).density)
DL_GRADIENT(sigmoid_gradient, v*(1.0f - v))
DL_GRADIENT(tanh_gradient, 1.0f - v * v)
DL_GRADIENT(softplus_gradient, sigmoid(v))

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

}  // namespace kernels

namespace {

using tensor::Activation;

using Forward = void (*)(float*, const float*, std::int64_t, float);
using Gradient = void (*)(float*, const float*, const float*, std::int64_t,
                          float);

Forward forward_of(Activation kind) {
  switch (kind) {
    case Activation::kRelu:
      return kernels::relu;
    case Activation::kLeakyRelu:
      return kernels::leaky_relu;
    case Activation::kElu:
      return kernels::elu;
    case Activation::kGelu:
      return kernels::gelu;
    case Activation::kSigmoid:
      return kernels::sigmoid_of;
    case Activation::kTanh:
      return kernels::tanh_each;
    default:
      require(kind == Activation::kSoftplus, "an unknown activation");
      return kernels::softplus_of;
  }
}

Gradient gradient_of(Activation kind) {
  switch (kind) {
    case Activation::kRelu:
      return kernels::relu_gradient;
    case Activation::kLeakyRelu:
      return kernels::leaky_relu_gradient;
    case Activation::kElu:
      return kernels::elu_gradient;
    case Activation::kGelu:
      return kernels::gelu_gradient;
    case Activation::kSigmoid:
      return kernels::sigmoid_gradient;
    case Activation::kTanh:
      return kernels::tanh_gradient;
    default:
      require(kind == Activation::kSoftplus, "an unknown activation");
      return kernels::softplus_gradient;
  }
}

}  // namespace

void CpuDevice::activate(const tensor::ActivationSpec& f, View y, View x) {
  check_reals(tensor::DType::kF32, {y, x});
  check_same_shape(y, x);
  if (f.kind == Activation::kIdentity) {
    if (y.data != x.data) copy(y, x);
    return;
  }
  if (f.kind != Activation::kSoftmax) {
    forward_of(f.kind)(y.as<float>(), x.as<float>(), x.elements(),
                       static_cast<float>(f.alpha));
    return;
  }
  const auto [count, length] = rows_of(x);
  for (std::int64_t i = 0; i < count; ++i)
    kernels::softmax_row(y.as<float>() + i * length, x.as<float>() + i * length,
                         length);
}

void CpuDevice::activate_gradient(const tensor::ActivationSpec& f, View dx,
                                  View dy, View y, View x) {
  check_reals(tensor::DType::kF32, {dx, dy, y});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  if (needs_input(f.kind)) {
    check_reals(tensor::DType::kF32, {x});
    check_same_shape(dx, x);
  }
  if (f.kind == Activation::kIdentity) {
    if (dx.data != dy.data) copy(dx, dy);
    return;
  }
  if (f.kind != Activation::kSoftmax) {
    const View& from = needs_input(f.kind) ? x : y;
    gradient_of(f.kind)(dx.as<float>(), dy.as<float>(), from.as<float>(),
                        dx.elements(), static_cast<float>(f.alpha));
    return;
  }
  const auto [count, length] = rows_of(y);
  for (std::int64_t i = 0; i < count; ++i)
    kernels::softmax_row_gradient(dx.as<float>() + i * length,
                                  dy.as<float>() + i * length,
                                  y.as<float>() + i * length, length);
}

}  // namespace dl::device
