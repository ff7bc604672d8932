// Losses that look at all outputs of an example at once, and those with their
// activation inside, which are stable for any logits.

#include "libcore/device/cpu/loss_rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/error.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void exponentials(float* u, const float* y, float top,
                            std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t j = 0; j < n; ++j) {
    const float below = y[j] - top;
    u[j] = below < -87.0f ? 0.0f : exp_down(below);
  }
}

}  // namespace kernels

namespace {

double softplus(double x) {
  return (x > 0 ? x : 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double sigmoid(double x) {
  const double u = std::exp(-std::abs(x));
  return (x < 0 ? u : 1.0) / (1 + u);
}

// The sum of exp(y - top), which go where the gradient will, if there is one.
double sum_exponentials(const Example& e, float top) {
  constexpr std::int64_t kAtOnce = 256;
  float room[kAtOnce];
  double sums[4] = {};
  for (std::int64_t first = 0; first < e.units; first += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, e.units - first);
    float* u = e.grad != nullptr ? e.grad + first : room;
    kernels::exponentials(u, e.y + first, top, count);
    for (std::int64_t j = 0; j < count; ++j) sums[j % 4] += u[j];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The exponentials are float32, the rest is not.  The gradient may lie where y
// does.
double softmax_cross_entropy(const Example& e) {
  const float top = *std::max_element(e.y, e.y + e.units);
  double mass = 0, chosen = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double t = e.weight(j) * e.t(j);
    mass += t;
    if (t != 0) chosen += t * (double{e.y[j]} - top);
  }
  const double total = sum_exponentials(e, top);
  if (e.grad != nullptr) {
    const double share = mass / total;
    for (std::int64_t j = 0; j < e.units; ++j)
      e.slope(j, share * e.grad[j] - e.weight(j) * e.t(j));
  }
  return mass * std::log(total) - chosen;
}

double softmax_divergence(const Example& e) {
  double negative_entropy = 0;
  for (std::int64_t j = 0; j < e.units; ++j)
    if (e.t(j) != 0)
      negative_entropy += e.weight(j) * e.t(j) * std::log(e.t(j));
  return softmax_cross_entropy(e) + negative_entropy;
}

double sigmoid_cross_entropy(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], t = e.t(j), u = std::exp(-std::abs(z));
    sum += e.weight(j) * ((z > 0 ? z : 0.0) + std::log1p(u) - t * z);
    e.slope(j, e.weight(j) * ((z < 0 ? u : 1.0) / (1 + u) - t));
  }
  return sum;
}

// The same where t and 1 - t count differently.
double balanced_cross_entropy(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], t = e.t(j);
    const double yes = e.spec->positive * t, no = e.spec->negative * (1 - t);
    sum += e.weight(j) * (yes * softplus(-z) + no * softplus(z));
    e.slope(j, e.weight(j) * (no * sigmoid(z) - yes * sigmoid(-z)));
  }
  return sum;
}

// -(1 - p)^gamma log p, and p times its derivative by p; q = 1 - p.
struct Focal {
  double value, slope;
};
Focal focal_at(double gamma, double log_p, double p, double q) {
  if (q <= 0) return {0, gamma == 0 ? -1.0 : 0.0};
  const double damped = std::pow(q, gamma);
  return {-damped * log_p, damped * (gamma * p * (log_p / q) - 1)};
}

double softmax_focal(const Example& e) {
  const double top = *std::max_element(e.y, e.y + e.units);
  double total = 0;
  for (std::int64_t j = 0; j < e.units; ++j) total += std::exp(e.y[j] - top);
  const double log_total = std::log(total);
  const auto at = [&](std::int64_t j) {
    const double log_p = e.y[j] - top - log_total;
    const double counts = e.spec->positive * e.weight(j) * e.t(j);
    if (counts == 0) return Focal{0, 0};
    const Focal f =
        focal_at(e.spec->gamma, log_p, std::exp(log_p), -std::expm1(log_p));
    return Focal{counts * f.value, counts * f.slope};
  };
  // dp_j / dz_k = p_j ((j = k) - p_k)
  double sum = 0, slopes = 0 * total;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const Focal f = at(j);
    sum += f.value;
    slopes += f.slope;
  }
  if (e.grad != nullptr) {
    for (std::int64_t k = 0; k < e.units; ++k)
      e.slope(k, at(k).slope - std::exp(e.y[k] - top) / total * slopes);
  }
  return sum + 0 * total;
}

double sigmoid_focal(const Example& e) {
  const double gamma = e.spec->gamma;
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], t = e.t(j), p = sigmoid(z), q = sigmoid(-z);
    const double yes = e.weight(j) * e.spec->positive * t;
    const double no = e.weight(j) * e.spec->negative * (1 - t);
    const Focal of_yes = focal_at(gamma, -softplus(-z), p, q);
    const Focal of_no = focal_at(gamma, -softplus(z), q, p);
    sum += yes * of_yes.value + no * of_no.value;
    // dp / dz = p q, and the slopes are already times p and q.
    e.slope(j, yes * of_yes.slope * q - no * of_no.slope * p);
  }
  return sum;
}

double exp_poisson(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], t = e.t(j), y = std::exp(z);
    sum += e.weight(j) * (y - t * z);
    e.slope(j, e.weight(j) * (y - t));
  }
  return sum;
}

double exp_exponential(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double z = e.y[j], share = e.t(j) * std::exp(-z);
    sum += e.weight(j) * (z + share);
    e.slope(j, e.weight(j) * (1 - share));
  }
  return sum;
}

// Means, and then logarithms of variances.
double gaussian(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double error = e.y[j] - e.t(j), log_variance = e.y[e.units + j];
    const double precision = std::exp(-log_variance);
    const double squared = error * error * precision;
    sum += e.weight(j) *
           (std::log(2 * std::numbers::pi) + log_variance + squared) / 2;
    e.slope(j, e.weight(j) * error * precision);
    e.slope(e.units + j, e.weight(j) * (1 - squared) / 2);
  }
  return sum;
}

// 0, or NaN where an output is.
double nothing(const Example& e) {
  double sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j) sum += 0.0 * e.y[j];
  return sum;
}

double categorical_hinge(const Example& e) {
  const std::int64_t c =
      std::max_element(e.target, e.target + e.units) - e.target;
  std::int64_t other = c == 0 ? 1 : 0;  // the largest of the others
  for (std::int64_t j = 0; j < e.units; ++j)
    if (j != c && e.y[j] > e.y[other]) other = j;
  const double short_by = 1.0 + e.y[other] - e.y[c] + nothing(e);
  const double rise = short_by <= 0 ? 0 : 1 + 0 * short_by;
  for (std::int64_t j = 0; j < e.units; ++j)
    e.slope(j, j == c ? -rise : j == other ? rise : 0);
  return short_by <= 0 ? 0 : short_by;
}

double cosine_proximity(const Example& e) {
  constexpr double kLeast = 1e-6;  // of a length
  double yy = 0, tt = 0, yt = 0;
  for (std::int64_t j = 0; j < e.units; ++j) {
    const double y = e.y[j], t = e.t(j);
    yy += y * y;
    tt += t * t;
    yt += y * t;
  }
  const bool is_short = yy < kLeast * kLeast;
  const double y_length = is_short ? kLeast : std::sqrt(yy);
  const double t_length = std::max(std::sqrt(tt), kLeast);
  const double cosine = yt / y_length / t_length;
  for (std::int64_t j = 0; j < e.units; ++j)
    e.slope(j, (is_short ? 0 : cosine * e.y[j] / yy) -
                   e.t(j) / t_length / y_length);
  return -cosine;
}

// log of the sum of exp(sign y_j) over the outputs whose target is over 0, or
// is not.
struct LogSum {
  std::int64_t count = 0;
  double value = 0;
};
LogSum log_sum(const Example& e, bool positive, double sign) {
  LogSum s;
  double top = -INFINITY, sum = 0;
  for (std::int64_t j = 0; j < e.units; ++j)
    if ((e.target[j] > 0) == positive) top = std::max(top, sign * e.y[j]);
  for (std::int64_t j = 0; j < e.units; ++j)
    if ((e.target[j] > 0) == positive) {
      ++s.count;
      sum += std::exp(sign * e.y[j] - top);
    }
  s.value = top + std::log(sum);
  return s;
}

// The mean over pairs of labels of which one is true and one is not of
// exp(-(y of the true one - y of the other)).
double multi_label(const Example& e) {
  const LogSum yes = log_sum(e, true, -1), no = log_sum(e, false, 1);
  if (yes.count == 0 || no.count == 0) {
    const double none = nothing(e);
    for (std::int64_t j = 0; j < e.units; ++j) e.slope(j, none);
    return none;
  }
  const double pairs =
      static_cast<double>(yes.count) * static_cast<double>(no.count);
  for (std::int64_t j = 0; j < e.units; ++j)
    e.slope(j, e.target[j] > 0 ? -std::exp(no.value - e.y[j]) / pairs
                               : std::exp(yes.value + e.y[j]) / pairs);
  return std::exp(yes.value + no.value) / pairs;
}

}  // namespace

LossRow loss_of_row(Loss kind) {
  switch (kind) {
    case Loss::kCategoricalHinge:
      return categorical_hinge;
    case Loss::kCosineProximity:
      return cosine_proximity;
    case Loss::kGaussian:
      return gaussian;
    default:
      require(kind == Loss::kMultiLabel, "this loss takes logits alone");
      return multi_label;
  }
}

LossRow loss_of_logits(const LossSpec& f) {
  switch (f.kind) {
    case Loss::kNegativeLogLikelihood:
      return softmax_cross_entropy;
    case Loss::kBinaryCrossEntropy:
      return f.positive == 1 && f.negative == 1 ? sigmoid_cross_entropy
                                                : balanced_cross_entropy;
    case Loss::kKlDivergence:
      return softmax_divergence;
    case Loss::kFocal:
      return softmax_focal;
    case Loss::kBinaryFocal:
      return sigmoid_focal;
    case Loss::kExponential:
      return exp_exponential;
    default:
      require(f.kind == Loss::kPoisson, "this loss takes no logits");
      return exp_poisson;
  }
}

}  // namespace dl::device
