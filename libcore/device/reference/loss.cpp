// Losses of outputs and of logits.

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::Loss;

constexpr double kClip = 1e-10;

// What one output adds to the loss of its example, and the derivative of that.
struct Term {
  double value, slope;
};

Term term_of(Loss kind, double y, double t, double outputs) {
  // NaN stays NaN.
  const double p = y < kClip ? kClip : y > 1 - kClip ? 1 - kClip : y;
  const double error = y - t;
  switch (kind) {
    case Loss::kNegativeLogLikelihood:
      return {-t * std::log(p), -t / p};
    case Loss::kBinaryCrossEntropy:
      return {-t * std::log(p) - (1 - t) * std::log(1 - p),
              (p - t) / (p * (1 - p))};
    case Loss::kMeanSquaredError:
      return {error * error / outputs, 2 * error / outputs};
    default: {
      const double sign = error > 0 ? 1 : error < 0 ? -1 : 0 * error;
      return {std::abs(error) / outputs, sign / outputs};
    }
  }
}

// log(1 + exp(x))
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double log_sum_exp(const double* z, std::int64_t n) {
  const double top = *std::max_element(z, z + n);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(z[i] - top);
  return top + std::log(sum);
}

// Sums the terms over all examples that carry weight and writes gradients.
// term(example, output) -> Term.
template <typename F>
double sum_terms(const Rows& rows, const tensor::View& grad,
                 const tensor::View& mask, double scale, F term) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const double weight = mask.empty() ? 1 : mask.as<double>()[i];
    for (std::int64_t j = 0; j < rows.length; ++j) {
      const Term t = weight == 0 ? Term{0, 0} : term(i, j);
      sum += weight * t.value;
      if (!grad.empty())
        grad.as<double>()[i * rows.length + j] = scale * weight * t.slope;
    }
  }
  return sum;
}

}  // namespace

double ReferenceDevice::loss(Loss kind, View grad, View y, View target,
                             View mask, double scale) {
  const Rows rows = check_loss(DType::kF64, grad, y, target, mask);
  return sum_terms(rows, grad, mask, scale, [&](auto i, auto j) {
    const std::int64_t at = i * rows.length + j;
    return term_of(kind, y.as<double>()[at], target.as<double>()[at],
                   static_cast<double>(rows.length));
  });
}

double ReferenceDevice::loss_with_logits(Loss kind, View grad, View z,
                                         View target, View mask, double scale) {
  const Rows rows = check_loss(DType::kF64, grad, z, target, mask);
  const double* logits = z.as<double>();
  if (kind == Loss::kBinaryCrossEntropy) {
    return sum_terms(rows, grad, mask, scale, [&](auto i, auto j) {
      const std::int64_t at = i * rows.length + j;
      const double t = target.as<double>()[at];
      return Term{softplus(logits[at]) - t * logits[at],
                  sigmoid(logits[at]) - t};
    });
  }
  require(kind == Loss::kNegativeLogLikelihood, "this loss takes no logits");
  return sum_terms(rows, grad, mask, scale, [&](auto i, auto j) {
    const std::int64_t row = i * rows.length;
    const double* t = target.as<double>() + row;
    double mass = 0;  // 1 for a class, but targets may be soft
    for (std::int64_t l = 0; l < rows.length; ++l) mass += t[l];
    const double log_p =
        logits[row + j] - log_sum_exp(logits + row, rows.length);
    return Term{t[j] == 0 ? 0 : -t[j] * log_p, mass * std::exp(log_p) - t[j]};
  });
}

}  // namespace dl::device
