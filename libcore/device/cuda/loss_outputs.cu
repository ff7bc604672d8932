// Losses that are sums over outputs: a thread an output.

#include <cmath>
#include <numbers>

#include "libcore/device/cuda/kernel/block_sums.h"
#include "libcore/device/cuda/loss_arrays.h"

namespace dl::device::cuda {
namespace {

constexpr double kClip = 1e-10;

// Contribution of an output to the loss, and its derivative.
struct Term {
  double value, slope;
};

DL_BOTH inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0 * x; }

DL_BOTH inline Term hinge(double y, double t, bool squared) {
  const double side = t > 0 ? 1 : -1, short_by = 1 - side * y;
  if (short_by <= 0) return {0, 0};
  if (squared) return {short_by * short_by, -2 * side * short_by};
  return {short_by, -side + 0 * short_by};
}

DL_BOTH inline Term log_cosh(double error) {
  const double size = std::fabs(error), half = std::sinh(size / 2);
  // Each form where it keeps its digits.
  return {size < 1 ? std::log1p(2 * half * half)
                   : size + std::log1p(std::exp(-2 * size)) - std::numbers::ln2,
          std::tanh(error)};
}

// NaN stays NaN.
DL_DEVICE inline Term term_of(const LossArrays& f, double y, double t) {
  const double above = y < kClip ? kClip : y;
  const double p = above > 1 - kClip ? 1 - kClip : above;
  const double error = y - t, size = std::fabs(error);
  switch (f.kind) {
    case Loss::kNegativeLogLikelihood:
      // Most targets are 0; a NaN output must show all the same.
      return {t == 0 ? 0 * p : -t * std::log(p), -t / p};
    case Loss::kBinaryCrossEntropy: {
      const double yes = f.positive * t, no = f.negative * (1 - t);
      return {-yes * std::log(p) - no * std::log(1 - p),
              no / (1 - p) - yes / p};
    }
    case Loss::kMeanAbsoluteError:
    case Loss::kL1:
      return {size, sign(error)};
    case Loss::kHuber:
      if (size <= f.delta) return {error * error / 2, error};
      return {f.delta * (size - f.delta / 2), f.delta * sign(error)};
    case Loss::kLogCosh:
      return log_cosh(error);
    case Loss::kMeanAbsolutePercentageError: {
      const double of = std::fabs(t), scale = 100 / (of > 1e-7 ? of : 1e-7);
      return {scale * size, scale * sign(error)};
    }
    case Loss::kMeanSquaredLogarithmicError: {
      const double of = y < 0 ? 0 : y;
      const double distance = std::log1p(of) - std::log1p(t);
      return {distance * distance, 2 * distance / (1 + of)};
    }
    case Loss::kKlDivergence:
      return {t == 0 ? 0 * p : t * std::log(t / p), -t / p};
    case Loss::kPoisson:
      return {y - t * std::log(above), 1 - t / above};
    case Loss::kHinge:
      return hinge(y, t, false);
    case Loss::kSquaredHinge:
      return hinge(y, t, true);
    case Loss::kWasserstein:
      return {y * t, t + 0 * y};
    case Loss::kExponential:
      return {std::log(above) + t / above, (1 - t / above) / above};
    default:  // mean_squared_error, l2
      return {error * error, 2 * error};
  }
}

bool is_mean(Loss kind) {
  return kind == Loss::kMeanSquaredError || kind == Loss::kMeanAbsoluteError ||
         kind == Loss::kHuber || kind == Loss::kLogCosh ||
         kind == Loss::kMeanAbsolutePercentageError ||
         kind == Loss::kMeanSquaredLogarithmicError ||
         kind == Loss::kWasserstein;
}

struct OfOutput {
  DL_DEVICE Term operator()(const LossArrays& a, std::int64_t i) const {
    return term_of(a, a.y[i], a.t(i));
  }
};

// -(1 - p)^gamma log p, and p times its derivative by p; q = 1 - p.
DL_BOTH inline Term focal(double gamma, double log_p, double p, double q) {
  if (q <= 0) return {0, gamma == 0 ? -1.0 : 0.0};
  const double damped = std::pow(q, gamma);
  return {-damped * log_p, damped * (gamma * p * (log_p / q) - 1)};
}

struct OfLogit {
  DL_DEVICE Term operator()(const LossArrays& a, std::int64_t i) const {
    const double z = a.y[i], t = a.t(i);
    if (a.kind == Loss::kPoisson) {
      const double y = std::exp(z);
      return {y - t * z, y - t};
    }
    if (a.kind == Loss::kExponential) {
      const double share = t * std::exp(-z);
      return {z + share, 1 - share};
    }
    const double yes = a.positive * t, no = a.negative * (1 - t);
    // The sigmoids p of z and q of -z, and their logarithms.
    const double u = std::exp(-std::fabs(z)), rest = std::log1p(u);
    const double p = (z < 0 ? u : 1.0) / (1 + u);
    const double q = (z < 0 ? 1.0 : u) / (1 + u);
    const double log_p = (z < 0 ? z : 0.0) - rest;
    const double log_q = (z < 0 ? 0.0 : -z) - rest;
    if (a.kind == Loss::kBinaryCrossEntropy)
      return {-yes * log_p - no * log_q, no * p - yes * q};
    const Term of_yes = focal(a.gamma, log_p, p, q);
    const Term of_no = focal(a.gamma, log_q, q, p);
    // dp / dz = p q, and the slopes are already times p and q.
    return {yes * of_yes.value + no * of_no.value,
            yes * of_yes.slope * q - no * of_no.slope * p};
  }
};

// Each block takes every so many-th run of outputs.
template <class Of>
struct OutputLosses {
  LossArrays a;
  Of of;
  double share;  // of an output in the loss
  BlockSums sums{};

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t n = a.count * a.units, step = b.count * b.threads;
    double mine = 0;
    for (std::int64_t i = b.index * b.threads + b.thread; i < n; i += step)
      mine += loss(i);
    sums.take(b, mine);
  }

  DL_DEVICE double loss(std::int64_t i) const {
    double counts = share;
    if (!a.mask.empty()) counts *= a.mask[i / a.units];
    if (counts == 0) {
      if (!a.grad.empty()) a.grad.set(i, 0);
      return 0;
    }
    if (!a.weights.empty()) counts *= a.weights[i % a.units];
    const Term term = of(a, i);
    if (!a.grad.empty())
      a.grad.set(i, static_cast<float>(a.scale * counts * term.slope));
    return counts * term.value;
  }
};

// Means, and then logarithms of variances.
struct GaussianLosses {
  LossArrays a;
  BlockSums sums{};

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t n = a.count * a.units, step = b.count * b.threads;
    double mine = 0;
    for (std::int64_t i = b.index * b.threads + b.thread; i < n; i += step)
      mine += loss(i / a.units, i % a.units);
    sums.take(b, mine);
  }

  DL_DEVICE double loss(std::int64_t example, std::int64_t j) const {
    const std::int64_t mean = example * 2 * a.units + j,
                       spread = mean + a.units;
    const double counts = a.counts(example), weight = counts * a.weight(j);
    if (counts == 0) {
      put(mean, 0);
      put(spread, 0);
      return 0;
    }
    const double error = a.y[mean] - a.t(example * a.units + j);
    const double log_variance = a.y[spread],
                 precision = std::exp(-log_variance);
    const double squared = error * error * precision;
    put(mean, weight * error * precision);
    put(spread, weight * (1 - squared) / 2);
    return weight * (std::log(2 * std::numbers::pi) + log_variance + squared) /
           2;
  }

  DL_DEVICE void put(std::int64_t i, double slope) const {
    if (!a.grad.empty()) a.grad.set(i, static_cast<float>(a.scale * slope));
  }
};

template <class Losses>
void add_losses(Stream& stream, const Losses& losses) {
  const LossArrays& a = losses.a;
  const std::int64_t threads = std::min(kThreads, stream.most_threads());
  add_to_number(stream, a.number, a.scale,
                (a.count * a.units + threads - 1) / threads, sizeof(double),
                losses);
}

}  // namespace

void add_output_losses(Stream& stream, const LossArrays& a) {
  const double share = is_mean(a.kind) ? 1 / static_cast<double>(a.units) : 1;
  add_losses(stream, OutputLosses<OfOutput>{a, {}, share});
}

void add_logit_losses(Stream& stream, const LossArrays& a) {
  add_losses(stream, OutputLosses<OfLogit>{a, {}, 1});
}

void add_gaussian_losses(Stream& stream, const LossArrays& a) {
  add_losses(stream, GaussianLosses{a});
}

}  // namespace dl::device::cuda
