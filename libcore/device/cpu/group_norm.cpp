// Normalization by groups of channels of each example.  Wide groups are summed
// along their rows, narrow ones by columns side by side: some terms in float,
// then in double.  The mean is taken off before squares are.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

constexpr std::int64_t kInFloat = kPartialSums * kRowsInFloat;

// total += the kSums sums of the terms that term(i) gives for i in [0, n).
template <int kSums, typename Term>
DL_INLINE void add_row(double (&total)[kSums], std::int64_t n, Term term) {
  const std::int64_t whole = n - n % kPartialSums;
  for (std::int64_t begin = 0; begin < whole; begin += kInFloat) {
    float part[kSums][kPartialSums] = {};
    const std::int64_t end = std::min(begin + kInFloat, whole);
    for (std::int64_t i = begin; i < end; i += kPartialSums)
      for (std::int64_t l = 0; l < kPartialSums; ++l) {
        const Terms<kSums> terms = term(i + l);
        for (int k = 0; k < kSums; ++k) part[k][l] += terms.of[k];
      }
    for (int k = 0; k < kSums; ++k) {
      double sum[kPartialSums];
      for (std::int64_t l = 0; l < kPartialSums; ++l) sum[l] = part[k][l];
      for (std::int64_t half = kPartialSums / 2; half > 0; half /= 2)
        for (std::int64_t l = 0; l < half; ++l) sum[l] += sum[l + half];
      total[k] += sum[0];
    }
  }
  for (std::int64_t i = whole; i < n; ++i) {
    const Terms<kSums> terms = term(i);
    for (int k = 0; k < kSums; ++k) total[k] += terms.of[k];
  }
}

// One group of one example: `s` rows of `width`, `c` apart.
struct Block {
  std::int64_t s, width, c;
  double count() const { return static_cast<double>(s * width); }
};

DL_VECTOR void block_statistics(float* statistics, const float* x, Block b,
                                double epsilon) {
  double sum[1] = {}, squares[1] = {};
  for (std::int64_t r = 0; r < b.s; ++r) {
    const float* row = x + r * b.c;
    add_row(sum, b.width, [=](std::int64_t i) { return Terms<1>{row[i]}; });
  }
  const auto mean = static_cast<float>(sum[0] / b.count());
  for (std::int64_t r = 0; r < b.s; ++r) {
    const float* row = x + r * b.c;
    add_row(squares, b.width, [=](std::int64_t i) {
      const float distance = row[i] - mean;
      return Terms<1>{distance * distance};
    });
  }
  statistics[0] = mean;
  statistics[1] =
      static_cast<float>(1 / std::sqrt(squares[0] / b.count() + epsilon));
}

DL_VECTOR void normalise_block(float* y, const float* x, const float* gamma,
                               const float* beta, const float* statistics,
                               Block b) {
  const float mean = statistics[0], inverse = statistics[1];
  for (std::int64_t r = 0; r < b.s; ++r, y += b.c, x += b.c) {
    if (gamma && beta) {
      DL_INDEPENDENT
      for (std::int64_t i = 0; i < b.width; ++i)
        y[i] = (x[i] - mean) * inverse * gamma[i] + beta[i];
    } else {
      DL_INDEPENDENT
      for (std::int64_t i = 0; i < b.width; ++i) y[i] = (x[i] - mean) * inverse;
      for (std::int64_t i = 0; gamma && i < b.width; ++i) y[i] *= gamma[i];
      for (std::int64_t i = 0; beta && i < b.width; ++i) y[i] += beta[i];
    }
  }
}

// dx = (dy gamma - offset - (x - mean) slope) / deviation
template <bool kGamma>
DL_VECTOR void block_gradient(float* dx, const float* dy, const float* x,
                              const float* gamma, const float* statistics,
                              Block b) {
  const float mean = statistics[0], inverse = statistics[1];
  double sum[2] = {};
  for (std::int64_t r = 0; r < b.s; ++r) {
    const float *row = x + r * b.c, *slope = dy + r * b.c;
    add_row(sum, b.width, [=](std::int64_t i) {
      const float d = kGamma ? slope[i] * gamma[i] : slope[i];
      return Terms<2>{d, d * (row[i] - mean)};
    });
  }
  const auto offset = static_cast<float>(sum[0] / b.count());
  const auto steep = static_cast<float>(sum[1] / b.count() * inverse * inverse);
  for (std::int64_t r = 0; r < b.s; ++r, dx += b.c, dy += b.c, x += b.c) {
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < b.width; ++i) {
      const float d = kGamma ? dy[i] * gamma[i] : dy[i];
      dx[i] = inverse * (d - offset - (x[i] - mean) * steep);
    }
  }
}

// Narrow groups, as many as a strip holds: columns of `s` rows, c apart.
struct Columns {
  std::int64_t s, c, columns, width;
  double count() const { return static_cast<double>(s * width); }
};

// Each column's values become the sum of its group's.
template <int kSums>
DL_INLINE void share_in_groups(double (&sum)[kSums][kStrip], const Columns& b) {
  for (int k = 0; k < kSums; ++k)
    for (std::int64_t g = 0; g < b.columns; g += b.width) {
      double total = 0;
      for (std::int64_t i = 0; i < b.width; ++i) total += sum[k][g + i];
      std::fill_n(sum[k] + g, b.width, total);
    }
}

template <int kSums, typename Term>
DL_INLINE void sum_columns(double (&sum)[kSums][kStrip], const Columns& b,
                           Term term) {
  for (std::int64_t begin = 0; begin < b.s; begin += kRowsInFloat) {
    const std::int64_t end = std::min(begin + kRowsInFloat, b.s);
    float part[kSums][kStrip] = {};
    for (std::int64_t r = begin; r < end; ++r) {
      DL_INDEPENDENT
      for (std::int64_t i = 0; i < b.columns; ++i) {
        const Terms<kSums> terms = term(r * b.c + i, i);
        for (int k = 0; k < kSums; ++k) part[k][i] += terms.of[k];
      }
    }
    for (int k = 0; k < kSums; ++k) {
      DL_INDEPENDENT
      for (std::int64_t i = 0; i < b.columns; ++i) sum[k][i] += part[k][i];
    }
  }
  share_in_groups(sum, b);
}

DL_VECTOR void column_statistics(float* statistics, const float* x, Columns b,
                                 double epsilon) {
  double sum[1][kStrip] = {}, squares[1][kStrip] = {};
  float mean[kStrip];
  sum_columns(sum, b,
              [=](std::int64_t at, std::int64_t) { return Terms<1>{x[at]}; });
  for (std::int64_t i = 0; i < b.columns; ++i)
    mean[i] = static_cast<float>(sum[0][i] / b.count());
  sum_columns(squares, b, [&](std::int64_t at, std::int64_t i) {
    const float distance = x[at] - mean[i];
    return Terms<1>{distance * distance};
  });
  for (std::int64_t i = 0; i < b.columns; i += b.width) {
    *statistics++ = mean[i];
    *statistics++ =
        static_cast<float>(1 / std::sqrt(squares[0][i] / b.count() + epsilon));
  }
}

// The statistics of each column's group.
DL_INLINE void spread(float* mean, float* inverse, const float* statistics,
                      const Columns& b) {
  for (std::int64_t i = 0; i < b.columns; ++i) {
    mean[i] = statistics[i / b.width * 2];
    inverse[i] = statistics[i / b.width * 2 + 1];
  }
}

DL_VECTOR void normalise_columns(float* y, const float* x, const float* gamma,
                                 const float* beta, const float* statistics,
                                 Columns b) {
  float mean[kStrip], factor[kStrip], offset[kStrip];
  spread(mean, factor, statistics, b);
  for (std::int64_t i = 0; i < b.columns; ++i) {
    if (gamma) factor[i] *= gamma[i];
    offset[i] = beta ? beta[i] : 0.0f;
  }
  for (std::int64_t r = 0; r < b.s; ++r, y += b.c, x += b.c) {
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < b.columns; ++i)
      y[i] = (x[i] - mean[i]) * factor[i] + offset[i];
  }
}

DL_VECTOR void column_gradient(float* dx, const float* dy, const float* x,
                               const float* gamma, const float* statistics,
                               Columns b) {
  float mean[kStrip], inverse[kStrip], factor[kStrip], offset[kStrip],
      steep[kStrip];
  double sum[2][kStrip] = {};
  spread(mean, inverse, statistics, b);
  for (std::int64_t i = 0; i < b.columns; ++i)
    factor[i] = gamma ? gamma[i] : 1.0f;
  sum_columns(sum, b, [&](std::int64_t at, std::int64_t i) {
    const float d = dy[at] * factor[i];
    return Terms<2>{d, d * (x[at] - mean[i])};
  });
  for (std::int64_t i = 0; i < b.columns; ++i) {
    offset[i] = static_cast<float>(sum[0][i] / b.count());
    steep[i] =
        static_cast<float>(sum[1][i] / b.count() * inverse[i] * inverse[i]);
  }
  for (std::int64_t r = 0; r < b.s; ++r, dx += b.c, dy += b.c, x += b.c) {
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < b.columns; ++i)
      dx[i] = inverse[i] *
              (dy[i] * factor[i] - offset[i] - (x[i] - mean[i]) * steep[i]);
  }
}

// The statistics of columns of examples, which are looked up where the example
// changes.
struct ColumnStatistics {
  float mean[kStrip], inverse[kStrip];
  std::int64_t example = -1;

  DL_INLINE void look_up(const float* statistics, const Groups& of,
                         std::int64_t n, std::int64_t first,
                         std::int64_t columns) {
    if (n == example) return;
    const float* has = statistics + 2 * n * of.g;
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::int64_t group = of.g == 1 ? 0 : (first + i) / of.width();
      mean[i] = has[2 * group];
      inverse[i] = has[2 * group + 1];
    }
    example = n;
  }
};

DL_VECTOR void add_columns(double* sum, const float* part, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) sum[i] += part[i];
}

// Adds to the parts of dgamma and dbeta what one row gives.
DL_INLINE void add_parameters(float* dgamma, float* dbeta, const float* dy,
                              const float* x, const float* mean,
                              const float* inverse, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    dgamma[i] += dy[i] * ((x[i] - mean[i]) * inverse[i]);
    dbeta[i] += dy[i];
  }
}

// Sums over examples of columns `first` on: dgamma of dy xhat, dbeta of dy.
DL_VECTOR void sum_parameters(float* dgamma, float* dbeta, const float* dy,
                              const float* x, const float* statistics,
                              const Groups& of, std::int64_t first,
                              std::int64_t columns) {
  double gammas[kStrip] = {}, betas[kStrip] = {};
  ColumnStatistics has;
  for (std::int64_t begin = 0; begin < of.n * of.s; begin += kRowsInFloat) {
    const std::int64_t end = std::min(begin + kRowsInFloat, of.n * of.s);
    float gamma_part[kStrip] = {}, beta_part[kStrip] = {};
    for (std::int64_t r = begin; r < end; ++r) {
      has.look_up(statistics, of, r / of.s, first, columns);
      add_parameters(gamma_part, beta_part, dy + r * of.c + first,
                     x + r * of.c + first, has.mean, has.inverse, columns);
    }
    add_columns(gammas, gamma_part, columns);
    add_columns(betas, beta_part, columns);
  }
  for (std::int64_t i = 0; i < columns; ++i) {
    if (dgamma) dgamma[first + i] = static_cast<float>(gammas[i]);
    if (dbeta) dbeta[first + i] = static_cast<float>(betas[i]);
  }
}

}  // namespace kernels

namespace {

using tensor::DType;
using tensor::View;

const float* part(const View& v, std::int64_t first) {
  return v.empty() ? nullptr : v.as<float>() + first;
}
float* whole(const View& v) { return v.empty() ? nullptr : v.as<float>(); }

bool are_wide(const Groups& of) { return of.width() > kStrip / 2 || of.s == 1; }

// Calls block(at, first, statistic, b) for each group of each example, or
// columns() likewise for as many as a strip holds: `at` is the offset of its
// elements, `first` of its channels, `statistic` of its statistics.
template <typename OfBlock, typename OfColumns>
void for_each_part(const Groups& of, OfBlock block, OfColumns columns) {
  const std::int64_t step =
      are_wide(of) ? of.width() : kStrip / of.width() * of.width();
  for (std::int64_t n = 0; n < of.n; ++n)
    for (std::int64_t c = 0; c < of.c; c += step) {
      const std::int64_t at = n * of.s * of.c + c;
      const std::int64_t statistic = 2 * (n * of.g + c / of.width());
      if (are_wide(of))
        block(at, c, statistic, kernels::Block{of.s, of.width(), of.c});
      else
        columns(
            at, c, statistic,
            kernels::Columns{of.s, of.c, std::min(step, of.c - c), of.width()});
    }
}

}  // namespace

void CpuDevice::group_norm(View y, View statistics, View x, View gamma,
                           View beta, double epsilon) {
  const Groups of = check_group_norm(DType::kF32, x, statistics, {gamma, beta});
  check_reals(DType::kF32, {y});
  check_same_shape(y, x);
  float *to = y.as<float>(), *has = statistics.as<float>();
  const float* from = x.as<float>();
  for_each_part(
      of,
      [&](auto at, auto c, auto k, const kernels::Block& b) {
        kernels::block_statistics(has + k, from + at, b, epsilon);
        kernels::normalise_block(to + at, from + at, part(gamma, c),
                                 part(beta, c), has + k, b);
      },
      [&](auto at, auto c, auto k, const kernels::Columns& b) {
        kernels::column_statistics(has + k, from + at, b, epsilon);
        kernels::normalise_columns(to + at, from + at, part(gamma, c),
                                   part(beta, c), has + k, b);
      });
}

void CpuDevice::group_norm_gradient(View dx, View dgamma, View dbeta, View dy,
                                    View x, View gamma, View statistics) {
  const Groups of =
      check_group_norm(DType::kF32, x, statistics, {gamma, dgamma, dbeta});
  check_reals(DType::kF32, {dy});
  check_same_shape(dy, x);
  const float *slope = dy.as<float>(), *from = x.as<float>(),
              *has = statistics.as<float>();
  if (!dgamma.empty() || !dbeta.empty())
    for (std::int64_t c = 0; c < of.c; c += kStrip)
      kernels::sum_parameters(whole(dgamma), whole(dbeta), slope, from, has, of,
                              c, std::min(kStrip, of.c - c));
  if (dx.empty()) return;
  check_reals(DType::kF32, {dx});
  check_same_shape(dx, x);
  float* to = dx.as<float>();
  for_each_part(
      of,
      [&](auto at, auto c, auto k, const kernels::Block& b) {
        (gamma.empty()
             ? kernels::block_gradient<false>
             : kernels::block_gradient<true>)(to + at, slope + at, from + at,
                                              part(gamma, c), has + k, b);
      },
      [&](auto at, auto c, auto k, const kernels::Columns& b) {
        kernels::column_gradient(to + at, slope + at, from + at, part(gamma, c),
                                 has + k, b);
      });
}

}  // namespace dl::device
