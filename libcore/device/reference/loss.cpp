// Losses of outputs and of logits, as their formulas.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/reference/reference_device.h"
#include "libcore/device/reference/sigmoid.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::View;

constexpr double kClip = 1e-10;

// Outputs or targets of an example.
using Row = std::span<const double>;
// Where the derivatives by its outputs go.
using Slopes = std::span<double>;

// Contribution of one output to the loss of its example, and its derivative.
struct Term {
  double value, slope;
};

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0 * x; }

Term hinge(double y, double t, double power) {
  const double side = t > 0 ? 1 : -1, short_by = 1 - side * y;
  if (short_by <= 0) return {0, 0};
  return {std::pow(short_by, power),
          -side * power * std::pow(short_by, power - 1) + 0 * y};
}

Term term_of_distance(const LossSpec& f, double y, double t) {
  const double error = y - t;
  switch (f.kind) {
    case Loss::kMeanSquaredError:
    case Loss::kL2:
      return {error * error, 2 * error};
    case Loss::kMeanAbsoluteError:
    case Loss::kL1:
      return {std::abs(error), sign(error)};
    case Loss::kHuber:
      if (std::abs(error) <= f.delta) return {error * error / 2, error};
      return {f.delta * (std::abs(error) - f.delta / 2), f.delta * sign(error)};
    case Loss::kLogCosh:
      return {softplus(2 * error) - error - std::log(2), std::tanh(error)};
    default: {  // mean_absolute_percentage_error
      const double of = std::max(std::abs(t), 1e-7) / 100;
      return {std::abs(error) / of, sign(error) / of};
    }
  }
}

Term term_of(const LossSpec& f, double y, double t) {
  // NaN stays NaN.
  const double above = y < kClip ? kClip : y;
  const double p = above > 1 - kClip ? 1 - kClip : above;
  switch (f.kind) {
    case Loss::kNegativeLogLikelihood:
      return {-t * std::log(p), -t / p};
    case Loss::kBinaryCrossEntropy:
      return {-f.positive * t * std::log(p) -
                  f.negative * (1 - t) * std::log(1 - p),
              f.negative * (1 - t) / (1 - p) - f.positive * t / p};
    case Loss::kMeanSquaredLogarithmicError: {
      const double of = 1 + (y < 0 ? 0 : y), error = std::log(of / (1 + t));
      return {error * error, 2 * error / of};
    }
    case Loss::kKlDivergence:
      return {(t == 0 ? 0 : t * std::log(t)) - t * std::log(p), -t / p};
    case Loss::kPoisson:
      return {y - t * std::log(above), 1 - t / above};
    case Loss::kHinge:
      return hinge(y, t, 1);
    case Loss::kSquaredHinge:
      return hinge(y, t, 2);
    case Loss::kWasserstein:
      return {y * t, t + 0 * y};
    case Loss::kExponential:
      return {std::log(above) + t / above, 1 / above - t / (above * above)};
    default:
      return term_of_distance(f, y, t);
  }
}

bool is_mean(Loss kind) {
  return kind == Loss::kMeanSquaredError || kind == Loss::kMeanAbsoluteError ||
         kind == Loss::kHuber || kind == Loss::kLogCosh ||
         kind == Loss::kMeanAbsolutePercentageError ||
         kind == Loss::kMeanSquaredLogarithmicError ||
         kind == Loss::kWasserstein;
}

double sum_of_terms(const LossSpec& f, Slopes slopes, Row y, Row t,
                    Row weights) {
  double loss = 0;
  const double outputs = is_mean(f.kind) ? static_cast<double>(y.size()) : 1;
  for (std::size_t j = 0; j < y.size(); ++j) {
    const Term term = term_of(f, y[j], t[j]);
    loss += weights[j] * term.value / outputs;
    slopes[j] = weights[j] * term.slope / outputs;
  }
  return loss;
}

// 0, or NaN where an output is.
double nothing(Row y) {
  double sum = 0;
  for (const double output : y) sum += 0 * output;
  return sum;
}

double categorical_hinge(Slopes slopes, Row y, Row t) {
  const auto c =
      static_cast<std::size_t>(std::ranges::max_element(t) - t.begin());
  std::size_t other = c == 0 ? 1 : 0;
  for (std::size_t j = 0; j < y.size(); ++j)
    if (j != c && y[j] > y[other]) other = j;
  const double none = nothing(y), short_by = 1 + y[other] - y[c] + none;
  std::ranges::fill(slopes, 0);
  if (short_by <= 0) return 0;
  slopes[other] = 1 + none;
  slopes[c] = -1 + none;
  return short_by;
}

double cosine_proximity(Slopes slopes, Row y, Row t) {
  double yy = 0, tt = 0, yt = 0;
  for (std::size_t j = 0; j < y.size(); ++j) {
    yy += y[j] * y[j];
    tt += t[j] * t[j];
    yt += y[j] * t[j];
  }
  const double ny = yy < 1e-12 ? 1e-6 : std::sqrt(yy);
  const double nt = std::max(std::sqrt(tt), 1e-6);
  for (std::size_t j = 0; j < y.size(); ++j)
    slopes[j] =
        -t[j] / (ny * nt) + (yy < 1e-12 ? 0 : yt * y[j] / (ny * ny * ny * nt));
  return -yt / (ny * nt);
}

double multi_label(Slopes slopes, Row y, Row t) {
  double pairs = 0, loss = 0;
  std::ranges::fill(slopes, 0);
  for (std::size_t k = 0; k < y.size(); ++k)
    for (std::size_t l = 0; l < y.size(); ++l)
      if (t[k] > 0 && !(t[l] > 0)) {
        const double e = std::exp(y[l] - y[k]);
        ++pairs;
        loss += e;
        slopes[k] -= e;
        slopes[l] += e;
      }
  for (double& slope : slopes) slope /= std::max(pairs, 1.0);
  loss = loss / std::max(pairs, 1.0) + nothing(y);
  if (pairs == 0) std::ranges::fill(slopes, loss);
  return loss;
}

// The density of N(m, v) at each target, of m and log v.
double gaussian(Slopes slopes, Row y, Row t, Row weights) {
  double loss = 0;
  const std::size_t n = t.size();
  for (std::size_t j = 0; j < n; ++j) {
    const double error = t[j] - y[j], variance = std::exp(y[n + j]);
    const double density = std::log(2 * std::numbers::pi * variance) / 2 +
                           error * error / (2 * variance);
    loss += weights[j] * density;
    slopes[j] = -weights[j] * error / variance;
    slopes[n + j] = weights[j] * (0.5 - error * error / (2 * variance));
  }
  return loss;
}

double loss_of(const LossSpec& f, Slopes slopes, Row y, Row t, Row weights) {
  require(!needs_logits(f.kind), "this loss takes logits alone");
  switch (f.kind) {
    case Loss::kCategoricalHinge:
      return categorical_hinge(slopes, y, t);
    case Loss::kCosineProximity:
      return cosine_proximity(slopes, y, t);
    case Loss::kMultiLabel:
      return multi_label(slopes, y, t);
    case Loss::kGaussian:
      return gaussian(slopes, y, t, weights);
    default:
      return sum_of_terms(f, slopes, y, t, weights);
  }
}

double log_sum_exp(Row z) {
  const double top = *std::ranges::max_element(z);
  double sum = 0;
  for (const double x : z) sum += std::exp(x - top);
  return top + std::log(sum);
}

// negative_log_likelihood, kl_divergence and focal of softmax.
double with_softmax(const LossSpec& f, Slopes slopes, Row z, Row t,
                    Row weights) {
  double loss = 0;
  const double all = log_sum_exp(z);
  const double gamma = f.kind == Loss::kFocal ? f.gamma : 0;
  double sum = 0;  // of p_j dL/dp_j
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double log_p = z[j] - all, p = std::exp(log_p);
    const double q = -std::expm1(log_p), damped = std::pow(q, gamma);
    const double counts = f.positive * weights[j] * t[j];
    const double rise =
        gamma == 0 || q == 0 ? 0 : gamma * p * std::pow(q, gamma - 1) * log_p;
    if (counts != 0) loss -= counts * damped * log_p;
    if (counts != 0 && f.kind == Loss::kKlDivergence)
      loss += counts * std::log(t[j]);
    slopes[j] = counts == 0 ? 0 : counts * (rise - damped);
    sum += slopes[j];
  }
  for (std::size_t k = 0; k < z.size(); ++k)
    slopes[k] -= std::exp(z[k] - all) * sum;
  return loss + 0 * all;
}

// binary_cross_entropy and binary_focal of a sigmoid.
Term with_sigmoid(const LossSpec& f, double z, double t) {
  const double gamma = f.kind == Loss::kBinaryFocal ? f.gamma : 0;
  const double p = sigmoid(z), q = sigmoid(-z);
  const double yes = f.positive * t, no = f.negative * (1 - t);
  // log p and log q
  const double lp = -softplus(-z), lq = -softplus(z);
  return {-yes * std::pow(q, gamma) * lp - no * std::pow(p, gamma) * lq,
          yes * std::pow(q, gamma) * (gamma * p * lp - q) -
              no * std::pow(p, gamma) * (gamma * q * lq - p)};
}

double loss_of_logits(const LossSpec& f, Slopes slopes, Row z, Row t,
                      Row weights) {
  const auto inside = activation_inside(f.kind);
  require(inside.has_value(), "this loss takes no logits");
  if (*inside == Activation::kSoftmax)
    return with_softmax(f, slopes, z, t, weights);
  double loss = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double y = std::exp(z[j]);
    const Term term = f.kind == Loss::kPoisson ? Term{y - t[j] * z[j], y - t[j]}
                      : f.kind == Loss::kExponential
                          ? Term{z[j] + t[j] / y, 1 - t[j] / y}
                          : with_sigmoid(f, z[j], t[j]);
    loss += weights[j] * term.value;
    slopes[j] = weights[j] * term.slope;
  }
  return loss;
}

struct Arrays {
  View grad, y, target, mask;
};

// Sums f over all examples that carry weight and writes gradients.
template <typename F>
double sum_examples(std::vector<double>& scratch, const LossSpec& spec,
                    const Arrays& of, double scale, F f) {
  const Rows rows =
      check_loss(DType::kF64, spec, of.grad, of.y, of.target, of.mask);
  const auto all = static_cast<std::size_t>(rows.length),
             n = all / static_cast<std::size_t>(numbers_each(spec.kind));
  const double floor = smoothing_floor(spec, static_cast<std::int64_t>(n));
  scratch.assign(2 * n + all, 1);
  const Slopes t(scratch.data(), n), slopes(scratch.data() + 2 * n, all);
  const Row weights = spec.weights.empty() ? Row(scratch.data() + n, n)
                                           : Row(spec.weights.as<double>(), n);
  double sum = 0;
  for (std::size_t i = 0; std::cmp_less(i, rows.count); ++i) {
    const double weight = of.mask.empty() ? 1 : of.mask.as<double>()[i];
    std::ranges::fill(slopes, 0);
    if (weight != 0) {
      for (std::size_t j = 0; j < n; ++j)
        t[j] = (1 - spec.smoothing) * of.target.as<double>()[i * n + j] + floor;
      sum += weight *
             f(spec, slopes, Row(of.y.as<double>() + i * all, all), t, weights);
    }
    if (of.grad.empty()) continue;
    for (std::size_t j = 0; j < all; ++j)
      of.grad.as<double>()[i * all + j] = scale * weight * slopes[j];
  }
  return sum;
}

}  // namespace

void ReferenceDevice::loss(View number, const LossSpec& f, View grad, View y,
                           View target, View mask, double scale) {
  const double sum =
      sum_examples(loss_scratch_, f, {grad, y, target, mask}, scale, loss_of);
  if (!number.empty()) number_in(number) += scale * sum;
}

void ReferenceDevice::loss_with_logits(View number, const LossSpec& f,
                                       View grad, View z, View target,
                                       View mask, double scale) {
  const double sum = sum_examples(loss_scratch_, f, {grad, z, target, mask},
                                  scale, loss_of_logits);
  if (!number.empty()) number_in(number) += scale * sum;
}

}  // namespace dl::device
