// Losses that are sums over outputs.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/device/cpu/loss_rows.h"

namespace dl::device {
namespace {

constexpr double kClip = 1e-10;

// Contribution of an output to the loss, and its derivative.
struct Term {
  double value, slope;
};
using TermOf = Term (*)(const LossSpec&, double y, double t);

double clipped(double y) {
  const double above = y < kClip ? kClip : y;  // NaN stays NaN
  return above > 1 - kClip ? 1 - kClip : above;
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0 * x; }

Term log_likelihood(const LossSpec&, double y, double t) {
  const double p = clipped(y);
  // Most targets are 0; a NaN output must show all the same.
  return {t == 0 ? 0 * p : -t * std::log(p), -t / p};
}

Term binary(const LossSpec& f, double y, double t) {
  const double p = clipped(y);
  const double yes = f.positive * t, no = f.negative * (1 - t);
  return {-yes * std::log(p) - no * std::log(1 - p), no / (1 - p) - yes / p};
}

Term absolute(const LossSpec&, double y, double t) {
  return {std::abs(y - t), sign(y - t)};
}

Term squared(const LossSpec&, double y, double t) {
  return {(y - t) * (y - t), 2 * (y - t)};
}

Term huber(const LossSpec& f, double y, double t) {
  const double error = y - t, size = std::abs(error);
  if (size <= f.delta) return {error * error / 2, error};
  return {f.delta * (size - f.delta / 2), f.delta * sign(error)};
}

Term log_cosh(const LossSpec&, double y, double t) {
  const double error = y - t, size = std::abs(error);
  const double half = std::sinh(size / 2);
  // Each form where it keeps its digits.
  return {size < 1 ? std::log1p(2 * half * half)
                   : size + std::log1p(std::exp(-2 * size)) - std::numbers::ln2,
          std::tanh(error)};
}

Term percentage(const LossSpec&, double y, double t) {
  const double scale = 100 / std::max(std::abs(t), 1e-7);
  return {scale * std::abs(y - t), scale * sign(y - t)};
}

Term squared_logarithm(const LossSpec&, double y, double t) {
  const double p = y < 0 ? 0 : y;
  const double error = std::log1p(p) - std::log1p(t);
  return {error * error, 2 * error / (1 + p)};
}

Term divergence(const LossSpec&, double y, double t) {
  const double p = clipped(y);
  return {t == 0 ? 0 * p : t * std::log(t / p), -t / p};
}

Term poisson(const LossSpec&, double y, double t) {
  const double p = y < kClip ? kClip : y;
  return {y - t * std::log(p), 1 - t / p};
}

Term hinge(const LossSpec&, double y, double t) {
  const double side = t > 0 ? 1 : -1, short_by = 1 - side * y;
  if (short_by <= 0) return {0, 0};
  return {short_by, -side + 0 * short_by};
}

Term squared_hinge(const LossSpec&, double y, double t) {
  const double side = t > 0 ? 1 : -1, short_by = 1 - side * y;
  if (short_by <= 0) return {0, 0};
  return {short_by * short_by, -2 * side * short_by};
}

Term wasserstein(const LossSpec&, double y, double t) {
  return {y * t, t + 0 * y};
}

Term exponential(const LossSpec&, double y, double t) {
  const double p = y < kClip ? kClip : y;
  return {std::log(p) + t / p, (1 - t / p) / p};
}

template <TermOf term, bool mean>
double each_output(const Example& e) {
  double sum = 0;
  const double outputs = mean ? static_cast<double>(e.units) : 1;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const Term of = term(*e.spec, e.y[j], e.t(j));
    sum += e.weight(j) * of.value;
    e.slope(j, e.weight(j) * of.slope / outputs);
  }
  return sum / outputs;
}

}  // namespace

LossRow loss_of_outputs(Loss kind) {
  switch (kind) {
    case Loss::kNegativeLogLikelihood:
      return each_output<log_likelihood, false>;
    case Loss::kBinaryCrossEntropy:
      return each_output<binary, false>;
    case Loss::kMeanSquaredError:
      return each_output<squared, true>;
    case Loss::kMeanAbsoluteError:
      return each_output<absolute, true>;
    case Loss::kL1:
      return each_output<absolute, false>;
    case Loss::kL2:
      return each_output<squared, false>;
    case Loss::kHuber:
      return each_output<huber, true>;
    case Loss::kLogCosh:
      return each_output<log_cosh, true>;
    case Loss::kMeanAbsolutePercentageError:
      return each_output<percentage, true>;
    case Loss::kMeanSquaredLogarithmicError:
      return each_output<squared_logarithm, true>;
    case Loss::kKlDivergence:
      return each_output<divergence, false>;
    case Loss::kPoisson:
      return each_output<poisson, false>;
    case Loss::kHinge:
      return each_output<hinge, false>;
    case Loss::kSquaredHinge:
      return each_output<squared_hinge, false>;
    case Loss::kWasserstein:
      return each_output<wasserstein, true>;
    case Loss::kExponential:
      return each_output<exponential, false>;
    default:
      return nullptr;
  }
}

}  // namespace dl::device
