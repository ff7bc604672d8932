// Activations and their derivatives.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"
#include "libcore/device/reference/sigmoid.h"

namespace dl::device {
namespace {
using tensor::DType;

// Distribution and density of the standard normal.
double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

constexpr double kSeluScale = 1.0507009873554805;
constexpr double kSeluAlpha = 1.6732632423543772;

// Divisor of the rational approximation of tanh.
double rational_bottom(double v) {
  const double a = std::abs(v);
  return 1 + a + a * a + 1.41645 * a * a * a * a;
}

double gelu_tanh_inside(double x) {
  return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
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
      return f.approximate ? x / 2 * (1 + std::tanh(gelu_tanh_inside(x)))
                           : x * normal_below(x);
    case Activation::kSigmoid:
      return sigmoid(x);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSoftplus:
      return softplus(x);
    case Activation::kRelu6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case Activation::kCappedRelu:
      if (x >= f.limit) return f.limit;
      return x < f.threshold ? f.alpha * (x - f.threshold) : x;
    case Activation::kThresholdedRelu:
      return x <= f.threshold ? 0 : x;
    case Activation::kSelu:
      return kSeluScale * (x < 0 ? kSeluAlpha * std::expm1(x) : x);
    case Activation::kSwish:
      return x * sigmoid(f.alpha * x);
    case Activation::kMish:
      return x * std::tanh(softplus(x));
    case Activation::kSoftsign:
      return x / (1 + std::abs(x));
    case Activation::kCube:
      return x * x * x;
    case Activation::kHardSigmoid:
      return std::clamp(f.alpha * x + 0.5, 0.0, 1.0);
    case Activation::kHardTanh:
      return std::clamp(x, -1.0, 1.0);
    case Activation::kRationalTanh:
      return std::copysign(1.7159 * (1 - 1 / rational_bottom(2 * x / 3)), x);
    case Activation::kRectifiedTanh:
      return x < 0 ? 0 : std::tanh(x);
    case Activation::kExp:
      return std::exp(x);
    default:
      return x;
  }
}

// f'(x) for those whose derivative is not one of y = f(x).
double derivative_at(const ActivationSpec& f, double x) {
  switch (f.kind) {
    case Activation::kGelu: {
      if (!f.approximate) return normal_below(x) + x * normal_density(x);
      const double t = std::tanh(gelu_tanh_inside(x));
      const double inner =
          std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
      return (1 + t) / 2 + x / 2 * (1 - t * t) * inner;
    }
    case Activation::kSoftplus:
      return sigmoid(x);
    case Activation::kSwish: {
      const double s = sigmoid(f.alpha * x);
      return s + f.alpha * x * s * (1 - s);
    }
    case Activation::kMish: {
      const double t = std::tanh(softplus(x));
      return t + x * (1 - t * t) * sigmoid(x);
    }
    case Activation::kCube:
      return 3 * x * x;
    default: {  // rational_tanh
      const double v = std::abs(2 * x / 3), b = rational_bottom(v);
      return 1.7159 * 2 / 3 * (1 + 2 * v + 4 * 1.41645 * v * v * v) / (b * b);
    }
  }
}

// f'(x) where y = f(x).
double derivative(const ActivationSpec& f, double y) {
  switch (f.kind) {
    case Activation::kRelu:
      return y > 0 ? 1 : 0;
    case Activation::kLeakyRelu:
      return y > 0 ? 1 : f.alpha;
    case Activation::kElu:
      return y > 0 ? 1 : y + f.alpha;
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kRelu6:
      return y > 0 && y < 6 ? 1 : 0;
    case Activation::kCappedRelu:
      return y >= f.limit ? 0 : y > 0 ? 1 : f.alpha;
    case Activation::kThresholdedRelu:
      return y > 0 ? 1 : 0;
    case Activation::kSelu:
      return y > 0 ? kSeluScale : y + kSeluScale * kSeluAlpha;
    case Activation::kSoftsign:
      return (1 - std::abs(y)) * (1 - std::abs(y));
    case Activation::kHardSigmoid:
      return y > 0 && y < 1 ? f.alpha : 0;
    case Activation::kHardTanh:
      return y > -1 && y < 1 ? 1 : 0;
    case Activation::kRectifiedTanh:
      return y <= 0 ? 0 : 1 - y * y;
    case Activation::kExp:
      return y;
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

void log_softmax(double* y, const double* x, std::int64_t n) {
  const double top = *std::max_element(x, x + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] - top - std::log(sum);
}

void log_softmax_gradient(double* dx, const double* dy, const double* y,
                          std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += dy[i];
  for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] - std::exp(y[i]) * sum;
}

bool goes_by_rows(Activation kind) {
  return kind == Activation::kSoftmax || kind == Activation::kLogSoftmax;
}

}  // namespace

void ReferenceDevice::activate(const ActivationSpec& f, View y, View x) {
  check_reals(DType::kF64, {y, x});
  check_same_shape(y, x);
  double* to = y.as<double>();
  const double* from = x.as<double>();
  if (goes_by_rows(f.kind)) {
    const auto [count, length] = rows_of(x);
    const auto row = f.kind == Activation::kSoftmax ? softmax : log_softmax;
    for (std::int64_t i = 0; i < count; ++i)
      row(to + i * length, from + i * length, length);
    return;
  }
  for (std::int64_t i = 0; i < x.elements(); ++i) to[i] = apply(f, from[i]);
}

void ReferenceDevice::activate_gradient(const ActivationSpec& f, View dx,
                                        View dy, View y, View x) {
  check_reals(DType::kF64, {dx, dy, y});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  const bool of_input = gradient_needs_input(f.kind);
  if (of_input) {
    check_reals(DType::kF64, {x});
    check_same_shape(dx, x);
  }
  double* to = dx.as<double>();
  const double* from = dy.as<double>();
  if (goes_by_rows(f.kind)) {
    const auto [count, length] = rows_of(y);
    const auto row = f.kind == Activation::kSoftmax ? softmax_gradient
                                                    : log_softmax_gradient;
    for (std::int64_t i = 0; i < count; ++i)
      row(to + i * length, from + i * length, y.as<double>() + i * length,
          length);
    return;
  }
  for (std::int64_t i = 0; i < dx.elements(); ++i)
    to[i] = from[i] * (of_input ? derivative_at(f, x.as<double>()[i])
                                : derivative(f, y.as<double>()[i]));
}

}  // namespace dl::device
