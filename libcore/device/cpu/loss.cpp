// Losses.  Outputs are few, and 1 - 1e-10 is no float32: so this is computed in
// float64, a row at a time.

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"

namespace dl::device {
namespace {

using tensor::Loss;
using tensor::View;

constexpr double kClip = 1e-10;

// One example: its outputs (or logits), targets, where its gradient goes (or
// null), and the factor of that gradient.
struct Example {
  std::int64_t units;
  const float* y;
  const float* target;
  float* grad;
  double factor;

  // Takes the derivative of the loss by output j.
  void slope(std::int64_t j, double value) const {
    if (grad != nullptr) grad[j] = static_cast<float>(factor * value);
  }
};

double clipped(double y) {
  const double above = y < kClip ? kClip : y;  // NaN stays NaN
  return above > 1 - kClip ? 1 - kClip : above;
}

double negative_log_likelihood(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double p = clipped(e.y[j]), t = e.target[j];
    // Most targets are 0; a NaN output must show all the same.
    sum -= t == 0 ? 0 * p : t * std::log(p);
    e.slope(j, -t / p);
  }
  return sum;
}

double binary_cross_entropy(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double p = clipped(e.y[j]), t = e.target[j];
    sum -= t * std::log(p) + (1 - t) * std::log(1 - p);
    e.slope(j, (p - t) / (p * (1 - p)));
  }
  return sum;
}

double mean_squared_error(const Example& e) {
  double sum = 0;
  const auto outputs = static_cast<double>(e.units);
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double error = static_cast<double>(e.y[j]) - e.target[j];
    sum += error * error;
    e.slope(j, 2 * error / outputs);
  }
  return sum / outputs;
}

double mean_absolute_error(const Example& e) {
  double sum = 0;
  const auto outputs = static_cast<double>(e.units);
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double error = static_cast<double>(e.y[j]) - e.target[j];
    sum += std::abs(error);
    const double sign = error > 0 ? 1 : error < 0 ? -1 : 0 * error;
    e.slope(j, sign / outputs);
  }
  return sum / outputs;
}

double softmax_cross_entropy(const Example& e) {
  const double top = *std::max_element(e.y, e.y + e.units);
  double total = 0, mass = 0, chosen = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double t = e.target[j];
    total += std::exp(e.y[j] - top);
    mass += t;
    if (t != 0) chosen += t * (e.y[j] - top);
  }
  if (e.grad != nullptr) {
    for (std::int64_t j = 0; j < e.units; ++j)
      e.slope(j, mass * std::exp(e.y[j] - top) / total - e.target[j]);
  }
  return mass * std::log(total) - chosen;
}

double sigmoid_cross_entropy(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], t = e.target[j], u = std::exp(-std::abs(z));
    sum += (z > 0 ? z : 0.0) + std::log1p(u) - t * z;
    e.slope(j, (z < 0 ? u : 1.0) / (1 + u) - t);
  }
  return sum;
}

// Sums f(example) over the examples that carry weight.
double sum_examples(const Rows& rows, const View& grad, const View& y,
                    const View& target, const View& mask, double scale,
                    double (*f)(const Example&)) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double weight = mask.empty() ? 1 : mask.as<float>()[i];
    const std::int64_t at = i * rows.length;
    float* slopes = grad.empty() ? nullptr : grad.as<float>() + at;
    if (weight == 0) {
      if (slopes != nullptr) std::fill_n(slopes, rows.length, 0.0f);
      continue;
    }
    sum += weight * f({rows.length, y.as<float>() + at, target.as<float>() + at,
                       slopes, scale * weight});
  }
  return sum;
}

}  // namespace

double CpuDevice::loss(Loss kind, View grad, View y, View target, View mask,
                       double scale) {
  const Rows rows = check_loss(tensor::DType::kF32, grad, y, target, mask);
  const auto sum = [&](auto f) {
    return sum_examples(rows, grad, y, target, mask, scale, f);
  };
  switch (kind) {
    case Loss::kNegativeLogLikelihood:
      return sum(negative_log_likelihood);
    case Loss::kBinaryCrossEntropy:
      return sum(binary_cross_entropy);
    case Loss::kMeanSquaredError:
      return sum(mean_squared_error);
    default:
      return sum(mean_absolute_error);
  }
}

double CpuDevice::loss_with_logits(Loss kind, View grad, View z, View target,
                                   View mask, double scale) {
  const Rows rows = check_loss(tensor::DType::kF32, grad, z, target, mask);
  const bool softmax = kind == Loss::kNegativeLogLikelihood;
  require(softmax || kind == Loss::kBinaryCrossEntropy,
          "this loss takes no logits");
  return sum_examples(rows, grad, z, target, mask, scale,
                      softmax ? softmax_cross_entropy : sigmoid_cross_entropy);
}

}  // namespace dl::device
