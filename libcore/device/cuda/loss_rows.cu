// Losses that look at all outputs of an example at once, and those of softmax,
// which are stable for any logits: a part of a block an example.

#include <cmath>
#include <cstdint>

#include "libcore/device/cuda/kernel/block_sums.h"
#include "libcore/device/cuda/kernel/row_parts.h"
#include "libcore/device/cuda/loss_arrays.h"

namespace dl::device::cuda {
namespace {

template <int n>
struct Sums {
  double at[n] = {};
  DL_DEVICE Sums operator+(const Sums& other) const {
    Sums sum = *this;
    for (int i = 0; i < n; ++i) sum.at[i] += other.at[i];
    return sum;
  }
};

// One example.  0 units: there is none, or it is not looked at.
struct Example {
  const LossArrays& a;
  Reals y, target, grad;
  std::int64_t units;
  double counts;

  DL_DEVICE Example(const LossArrays& arrays, const Block& part)
      : a(arrays),
        y(a.y + part.index * a.units),
        target(a.target + part.index * a.units),
        grad(a.grad.empty() ? a.grad : a.grad + part.index * a.units),
        units(part.index < a.count ? a.units : 0),
        counts(units == 0 ? 0 : a.counts(part.index)) {
    if (counts != 0) return;
    for (std::int64_t j = part.thread; j < units; j += part.threads)
      slope(j, 0);
    units = 0;
  }

  DL_DEVICE double t(std::int64_t j) const {
    return a.keep * target[j] + a.floor;
  }
  // Takes the derivative of the loss by output j.
  DL_DEVICE void slope(std::int64_t j, double value) const {
    if (!grad.empty())
      grad.set(j, static_cast<float>(a.scale * counts * value));
  }
};

// f(j) for this thread's outputs.
template <class F>
DL_DEVICE void for_outputs(const Block& part, const Example& e, const F& f) {
  for (std::int64_t j = part.thread; j < e.units; j += part.threads) f(j);
}

DL_DEVICE inline float largest(const Block& part, const Example& e) {
  const auto at = [&](std::int64_t j) { return e.y[j]; };
  return reduce_over(part, e.units, -INFINITY, at, Largest{});
}

// negative_log_likelihood and, with the entropy of the targets, kl_divergence.
// The exponentials are float32, the rest is not.
struct SoftmaxCrossEntropy {
  bool divergence;
  DL_DEVICE double operator()(const Block& part, const Example& e) const {
    const float top = largest(part, e);
    Sums<3> mine;
    for_outputs(part, e, [&](std::int64_t j) {
      const double t = e.a.weight(j) * e.t(j);
      mine.at[0] += t;
      if (t != 0) {
        mine.at[1] += t * (static_cast<double>(e.y[j]) - top);
        if (divergence) mine.at[1] -= t * std::log(e.t(j));
      }
      mine.at[2] += static_cast<double>(std::exp(e.y[j] - top));
    });
    const Sums<3> all = reduce(part, mine, Sum{});
    const double mass = all.at[0], chosen = all.at[1], total = all.at[2];
    const double share = mass / total;
    for_outputs(part, e, [&](std::int64_t j) {
      const double p = static_cast<double>(std::exp(e.y[j] - top));
      e.slope(j, share * p - e.a.weight(j) * e.t(j));
    });
    return mass * std::log(total) - chosen;
  }
};

// Contribution of an output to the loss, and p times its derivative by p.
struct FocalTerm {
  double value, slope;
};

struct SoftmaxFocal {
  DL_DEVICE double operator()(const Block& part, const Example& e) const {
    const double top = largest(part, e);
    const auto exponential = [&](std::int64_t j) {
      return std::exp(e.y[j] - top);
    };
    const double total = reduce_over(part, e.units, 0.0, exponential, Sum{});
    const double log_total = std::log(total);
    Sums<2> mine;
    for_outputs(part, e, [&](std::int64_t j) {
      const FocalTerm term = term_of(e, j, e.y[j] - top - log_total);
      mine.at[0] += term.value;
      mine.at[1] += term.slope;
    });
    const Sums<2> all = reduce(part, mine, Sum{});
    // dp_j / dz_k = p_j ((j = k) - p_k)
    for_outputs(part, e, [&](std::int64_t k) {
      const double log_p = e.y[k] - top - log_total;
      e.slope(k, term_of(e, k, log_p).slope -
                     std::exp(log_p) * (all.at[1] + 0 * total));
    });
    return all.at[0] + 0 * total;
  }

  // -(1 - p)^gamma log p, as often as the target counts.
  static DL_DEVICE FocalTerm term_of(const Example& e, std::int64_t j,
                                     double log_p) {
    const double counts = e.a.positive * e.a.weight(j) * e.t(j);
    if (counts == 0) return {0, 0};
    const double gamma = e.a.gamma, q = -std::expm1(log_p);
    if (q <= 0) return {0, gamma == 0 ? -counts : 0};
    const double damped = counts * std::pow(q, gamma);
    return {-damped * log_p,
            damped * (gamma * std::exp(log_p) * (log_p / q) - 1)};
  }
};

struct TargetClass {
  float value;
  std::int64_t index;
};
struct FirstLargest {
  DL_DEVICE TargetClass operator()(const TargetClass& a,
                                   const TargetClass& b) const {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b
                                                                          : a;
  }
};

struct CategoricalHinge {
  DL_DEVICE double operator()(const Block& part, const Example& e) const {
    constexpr TargetClass kNone{-INFINITY, INT64_MAX};
    const auto target = [&](std::int64_t j) {
      return TargetClass{e.target[j], j};
    };
    const std::int64_t c =
        reduce_over(part, e.units, kNone, target, FirstLargest{}).index;
    const auto output = [&](std::int64_t j) {
      return j == c ? kNone : TargetClass{e.y[j], j};
    };
    const TargetClass other =
        reduce_over(part, e.units, kNone, output, FirstLargest{});
    // The output of c, and 0 or, if an output is NaN, NaN.
    Sums<2> mine;
    for_outputs(part, e, [&](std::int64_t j) {
      if (j == c) mine.at[0] = e.y[j];
      mine.at[1] += 0.0 * e.y[j];
    });
    const Sums<2> all = reduce(part, mine, Sum{});
    const double short_by = 1.0 + other.value - all.at[0] + all.at[1];
    const double rise = short_by <= 0 ? 0 : 1 + 0 * short_by;
    for_outputs(part, e, [&](std::int64_t j) {
      e.slope(j, j == c ? -rise : j == other.index ? rise : 0);
    });
    return short_by <= 0 ? 0 : short_by;
  }
};

struct CosineProximity {
  DL_DEVICE double operator()(const Block& part, const Example& e) const {
    constexpr double kShortest = 1e-6;  // of a length
    Sums<3> mine;
    for_outputs(part, e, [&](std::int64_t j) {
      const double y = e.y[j], t = e.t(j);
      mine.at[0] += y * y;
      mine.at[1] += t * t;
      mine.at[2] += y * t;
    });
    const Sums<3> all = reduce(part, mine, Sum{});
    const double yy = all.at[0];
    const bool is_short = yy < kShortest * kShortest;
    const double y_length = is_short ? kShortest : std::sqrt(yy);
    const double length = std::sqrt(all.at[1]);
    const double t_length = length < kShortest ? kShortest : length;
    const double cosine = all.at[2] / y_length / t_length;
    for_outputs(part, e, [&](std::int64_t j) {
      e.slope(j, (is_short ? 0 : cosine * e.y[j] / yy) -
                     e.t(j) / t_length / y_length);
    });
    return -cosine;
  }
};

// Largest outputs: of those whose target is over 0, and of the others.
struct Tops {
  float yes, no;
};
struct LargestTops {
  DL_DEVICE Tops operator()(const Tops& a, const Tops& b) const {
    return {Largest{}(a.yes, b.yes), Largest{}(a.no, b.no)};
  }
};

// The mean over pairs of labels of which one is true and one is not of
// exp(-(y of the true one - y of the other)).
struct MultiLabel {
  DL_DEVICE double operator()(const Block& part, const Example& e) const {
    const auto output = [&](std::int64_t j) {
      return e.target[j] > 0 ? Tops{-e.y[j], -INFINITY}
                             : Tops{-INFINITY, e.y[j]};
    };
    const Tops top = reduce_over(part, e.units, Tops{-INFINITY, -INFINITY},
                                 output, LargestTops{});
    // How many are true and how many not, their exponentials, and 0 or NaN.
    Sums<5> mine;
    for_outputs(part, e, [&](std::int64_t j) {
      const double y = e.y[j];
      if (e.target[j] > 0) {
        mine.at[0] += 1;
        mine.at[2] += std::exp(-y - top.yes);
      } else {
        mine.at[1] += 1;
        mine.at[3] += std::exp(y - top.no);
      }
      mine.at[4] += 0 * y;
    });
    const Sums<5> all = reduce(part, mine, Sum{});
    const double pairs = all.at[0] * all.at[1], none = all.at[4];
    if (pairs == 0) {
      for_outputs(part, e, [&](std::int64_t j) { e.slope(j, none); });
      return none;
    }
    const double yes = top.yes + std::log(all.at[2]);
    const double no = top.no + std::log(all.at[3]);
    for_outputs(part, e, [&](std::int64_t j) {
      e.slope(j, e.target[j] > 0 ? -std::exp(no - e.y[j]) / pairs
                                 : std::exp(yes + e.y[j]) / pairs);
    });
    return std::exp(yes + no) / pairs;
  }
};

constexpr std::size_t kShared = sizeof(Sums<5>);

// Each block takes every so many-th run of examples.
template <class Row>
struct RowLosses {
  LossArrays a;
  unsigned threads;  // of a part
  Row row;
  BlockSums sums{};

  DL_DEVICE void operator()(const Block& b) const {
    Block part = part_of(b, threads, kShared);
    const std::int64_t in_block = b.threads / threads;
    double mine = 0;
    for (std::int64_t first = b.index * in_block; first < a.count;
         first += part.count, part.index += part.count) {
      const Example e(a, part);
      const double value = row(part, e);
      if (part.thread == 0 && e.units > 0) mine += e.counts * value;
    }
    sums.take(b, mine);
  }
};

template <class Row>
void add_losses(Stream& stream, const LossArrays& a, const Row& row) {
  const unsigned threads = part_for(stream, a.units);
  const std::int64_t in_block =
      std::min(kThreads, stream.most_threads()) / threads;
  add_to_number(stream, a.number, a.scale, (a.count + in_block - 1) / in_block,
                kShared, RowLosses<Row>{a, threads, row});
}

}  // namespace

void add_row_losses(Stream& stream, const LossArrays& a) {
  if (a.kind == Loss::kCategoricalHinge)
    return add_losses(stream, a, CategoricalHinge{});
  if (a.kind == Loss::kCosineProximity)
    return add_losses(stream, a, CosineProximity{});
  add_losses(stream, a, MultiLabel{});
}

void add_softmax_losses(Stream& stream, const LossArrays& a) {
  if (a.kind == Loss::kFocal) return add_losses(stream, a, SoftmaxFocal{});
  add_losses(stream, a, SoftmaxCrossEntropy{a.kind == Loss::kKlDivergence});
}

}  // namespace dl::device::cuda
