// Activations and their derivatives.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::Activation;
using tensor::ActivationSpec;
using tensor::DType;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Distribution and density of the standard normal.
double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

double apply(const ActivationSpec& f, double x) {
  switch (f.kind) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kLeakyRelu:
      return x < 0 ? f.alpha * x : x;
    case Activation::kElu:
      return x < 0 ? f.alpha * std::expm1(x) : x;
    case Activation::kGelu:
      return x * normal_below(x);
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    default:
      return x;
  }
}

// f'(x) where y = f(x); x is looked at by gelu and softplus alone.
double derivative(const ActivationSpec& f, double y, const double* x) {
  switch (f.kind) {
    case Activation::kRelu:
      return y > 0 ? 1 : 0;
    case Activation::kLeakyRelu:
      return y > 0 ? 1 : f.alpha;
    case Activation::kElu:
      return y > 0 ? 1 : y + f.alpha;
    case Activation::kGelu:
      return normal_below(*x) + *x * normal_density(*x);
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kSoftplus:
      return sigmoid(*x);
    default:
      return 1;
  }
}

void softmax(double* y, const double* x, std::int64_t n) {
  const double top = *std::max_element(x, x + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - top);
  for (std::int64_t i = 0; i < n; ++i) y[i] /= sum;
}

void softmax_gradient(double* dx, const double* dy, const double* y,
                      std::int64_t n) {
  double dot = 0;
  for (std::int64_t i = 0; i < n; ++i) dot += dy[i] * y[i];
  for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - dot);
}

}  // namespace

void ReferenceDevice::activate(const ActivationSpec& f, View y, View x) {
  check_reals(DType::kF64, {y, x});
  check_same_shape(y, x);
  double* to = y.as<double>();
  const double* from = x.as<double>();
  if (f.kind == Activation::kSoftmax) {
    const auto [count, length] = rows_of(x);
    for (std::int64_t i = 0; i < count; ++i)
      softmax(to + i * length, from + i * length, length);
    return;
  }
  for (std::int64_t i = 0; i < x.elements(); ++i) to[i] = apply(f, from[i]);
}

void ReferenceDevice::activate_gradient(const ActivationSpec& f, View dx,
                                        View dy, View y, View x) {
  check_reals(DType::kF64, {dx, dy, y});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  if (needs_input(f.kind)) {
    check_reals(DType::kF64, {x});
    check_same_shape(dx, x);
  }
  double* to = dx.as<double>();
  const double* from = dy.as<double>();
  if (f.kind == Activation::kSoftmax) {
    const auto [count, length] = rows_of(y);
    for (std::int64_t i = 0; i < count; ++i)
      softmax_gradient(to + i * length, from + i * length,
                       y.as<double>() + i * length, length);
    return;
  }
  for (std::int64_t i = 0; i < dx.elements(); ++i)
    to[i] = from[i] * derivative(f, y.as<double>()[i],
                                 x.empty() ? nullptr : x.as<double>() + i);
}

}  // namespace dl::device
