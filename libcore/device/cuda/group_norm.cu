// Normalization by groups of channels of each example.  A group that a cache
// holds is one block's; of others blocks sum ranges of rows of some channels,
// from which groups and parameters take what is theirs.

#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"
#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {

using tensor::View;

namespace {

struct Sizes {
  std::int64_t n, s, c, g, width;
  DL_BOTH double count() const { return static_cast<double>(s * width); }
};

Sizes sizes_of(const Groups& of) {
  return {of.n, of.s, of.c, of.g, of.width()};
}

// f(at, c) with the offset and the channel of each element of the block's
// group that is the thread's.
template <class F>
DL_DEVICE void for_each_in_group(const Block& b, const Sizes& of, const F& f) {
  unsigned wide = 1;
  while (wide < b.threads && wide < of.width) wide *= 2;
  const std::int64_t n = quotient(b.index, of.g);
  const std::int64_t first = (b.index - n * of.g) * of.width;
  for (std::int64_t r = b.thread / wide; r < of.s; r += b.threads / wide)
    for (std::int64_t w = b.thread % wide; w < of.width; w += wide)
      f((n * of.s + r) * of.c + first + w, first + w);
}

struct Statistics {
  float mean, inverse;  // 1 / sqrt(variance + epsilon)
};
// From the sums of distances to some value and of their squares.
struct Finish {
  double count, epsilon;
  DL_DEVICE Statistics operator()(float from, const Two& sums) const {
    const double distance = sums.a / count;
    double variance = sums.b / count - distance * distance;
    if (variance < 0) variance = 0;
    return {static_cast<float>(from + distance),
            static_cast<float>(1 / std::sqrt(variance + epsilon))};
  }
};

DL_DEVICE inline Two moments(float x, float from) {
  const double distance = static_cast<double>(x) - from;
  return {distance, distance * distance};
}

// An array of one number a channel, or none.
struct OfChannels {
  Reals values;
  DL_DEVICE float get(std::int64_t c, float otherwise) const {
    return values.empty() ? otherwise : values[c];
  }
};

struct Forward {
  Sizes of;
  Finish finish;
  Reals y, statistics, x;
  OfChannels gamma, beta;

  // An element near the others of its group, where squares do not lose digits.
  DL_DEVICE float first(std::int64_t n, std::int64_t g) const {
    return x[n * of.s * of.c + g * of.width];
  }
  DL_DEVICE void keep(std::int64_t group, const Statistics& has) const {
    statistics.set(2 * group, has.mean);
    statistics.set(2 * group + 1, has.inverse);
  }
};

struct NormaliseGroup : Forward {
  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t n = quotient(b.index, of.g);
    const float from = first(n, b.index - n * of.g);
    Two sums;
    for_each_in_group(b, of, [&](std::int64_t at, std::int64_t) {
      sums = sums + moments(x[at], from);
    });
    sums = reduce(b, sums, Sum{});
    const Statistics has = finish(from, sums);
    if (b.thread == 0) keep(b.index, has);
    for_each_in_group(b, of, [&](std::int64_t at, std::int64_t c) {
      y.set(at, (x[at] - has.mean) * has.inverse * gamma.get(c, 1) +
                    beta.get(c, 0));
    });
  }
};

struct SumMoments : Forward {
  DL_DEVICE Two operator()(const Strip& s) const {
    const float from = first(s.example, quotient(s.column, of.width));
    Two sums;
    for (std::int64_t at = s.begin; at < s.end; at += s.step)
      sums = sums + moments(x[at], from);
    return sums;
  }
};

struct NormaliseGroups : Forward {
  DL_DEVICE void operator()(const Strip& s) const {
    const std::int64_t group = s.example * of.g + quotient(s.column, of.width);
    const float mean = statistics[2 * group];
    const float factor = statistics[2 * group + 1] * gamma.get(s.column, 1);
    const float more = beta.get(s.column, 0);
    write_strip(
        s, y, [&](std::int64_t at) { return (x[at] - mean) * factor + more; });
  }
};

struct GroupsBackward {
  Sizes of;
  Reals dx, dy, x, statistics;
  OfChannels gamma;
};

// dx = inverse * (dy gamma - offset - (x - mean) steep)
struct GroupGradient : GroupsBackward {
  DL_DEVICE void operator()(const Block& b) const {
    const float mean = statistics[2 * b.index];
    const float inverse = statistics[2 * b.index + 1];
    Two sums;
    for_each_in_group(b, of, [&](std::int64_t at, std::int64_t c) {
      const float d = dy[at] * gamma.get(c, 1);
      sums = sums + Two{d, d * (x[at] - mean)};
    });
    sums = reduce(b, sums, Sum{});
    const double count = of.count();
    const auto offset = static_cast<float>(sums.a / count);
    const auto steep = static_cast<float>(sums.b / count * inverse * inverse);
    for_each_in_group(b, of, [&](std::int64_t at, std::int64_t c) {
      const float d = dy[at] * gamma.get(c, 1);
      dx.set(at, inverse * (d - offset - (x[at] - mean) * steep));
    });
  }
};

// Sums of dy and of dy xhat.
struct SumGroupSlopes : GroupsBackward {
  DL_DEVICE Two operator()(const Strip& s) const {
    const std::int64_t group = s.example * of.g + quotient(s.column, of.width);
    const float mean = statistics[2 * group];
    Two sums;
    for (std::int64_t at = s.begin; at < s.end; at += s.step) {
      const float d = dy[at];
      sums = sums + Two{d, d * (x[at] - mean)};
    }
    sums.b *= statistics[2 * group + 1];
    return sums;
  }
};

struct GroupsGradient : GroupsBackward {
  const Two* sums;  // [n, g]: of dy gamma, and times xhat
  DL_DEVICE void operator()(const Strip& s) const {
    const std::int64_t group = s.example * of.g + quotient(s.column, of.width);
    const float mean = statistics[2 * group];
    const float inverse = statistics[2 * group + 1];
    const double count = of.count();
    const auto offset = static_cast<float>(sums[group].a / count);
    const auto steep = static_cast<float>(sums[group].b / count * inverse);
    const float factor = gamma.get(s.column, 1);
    write_strip(s, dx, [&](std::int64_t at) {
      return inverse * (dy[at] * factor - offset - (x[at] - mean) * steep);
    });
  }
};

// Sums over all ranges of rows of the channels of group i = [n, g].
struct OfGroup {
  Sizes of;
  std::int64_t ranges;
  const Two* sums;  // [n, ranges, c]
  OfChannels gamma;
  DL_DEVICE Two operator()(std::int64_t i, std::int64_t j) const {
    const std::int64_t range = quotient(j, of.width);
    const std::int64_t c = i % of.g * of.width + j - range * of.width;
    const Two sum = sums[(i / of.g * ranges + range) * of.c + c];
    const double factor = gamma.get(c, 1);
    return {sum.a * factor, sum.b * factor};
  }
};

// Elements of a group that the cache next to its block holds, and of those side
// by side as many as memory hands out together.
constexpr std::int64_t kHeld = 4096, kTogether = 8;
constexpr std::int64_t kRowsEach = 16;  // a thread's

// How many ranges of rows there may be in scratch, beside a sum a group.
std::int64_t most_ranges(const Stream& stream, const Sizes& of) {
  const std::int64_t room = stream.scratch_elements<Two>() - of.n * of.g;
  return of.n == 0 ? 1 : room / (of.n * of.c);
}

bool by_blocks(const Stream& stream, const Sizes& of) {
  return of.s == 1 || (of.s * of.width <= kHeld && of.width >= kTogether) ||
         most_ranges(stream, of) < 1;
}

OfChannels channels(const View& v) { return {Reals(v)}; }

}  // namespace

void CudaDevice::group_norm(View y, View statistics, View x, View gamma,
                            View beta, double epsilon) {
  const Sizes of =
      sizes_of(check_group_norm(kReals, x, statistics, {gamma, beta}));
  check_reals({y});
  check_same_shape(y, x);
  const Forward forward{
      of,       {of.count(), epsilon}, Reals(y),      Reals(statistics),
      Reals(x), channels(gamma),       channels(beta)};
  if (by_blocks(stream_, of))
    return blocks(stream_, of.n * of.g, threads_for(of.s * of.width),
                  sizeof(Two), NormaliseGroup{forward});
  const StripGrid grid = strip_grid(stream_, of.n, of.s, of.c, kRowsEach,
                                    most_ranges(stream_, of));
  Two* const sums = stream_.scratch<Two>(of.n * grid.ranges * of.c);
  sum_strips(stream_, grid, SumMoments{forward}, sums);
  reduce_rows(stream_, of.n * of.g, grid.ranges * of.width, Two{},
              OfGroup{of, grid.ranges, sums, {}}, Sum{},
              [=] DL_DEVICE(std::int64_t i, const Two& sum) {
                forward.keep(
                    i, forward.finish(forward.first(i / of.g, i % of.g), sum));
              });
  each_strip(stream_, of.n, of.s, of.c, NormaliseGroups{forward});
}

void CudaDevice::group_norm_gradient(View dx, View dgamma, View dbeta, View dy,
                                     View x, View gamma, View statistics) {
  const Sizes of =
      sizes_of(check_group_norm(kReals, x, statistics, {gamma, dgamma, dbeta}));
  check_reals({dy});
  check_same_shape(dy, x);
  if (!dx.empty()) {
    check_reals({dx});
    check_same_shape(dx, x);
  }
  const GroupsBackward backward{of,       Reals(dx),         Reals(dy),
                                Reals(x), Reals(statistics), channels(gamma)};
  const bool parameters = !dgamma.empty() || !dbeta.empty();
  const Reals to_gamma(dgamma), to_beta(dbeta);
  const auto finish = [=] DL_DEVICE(std::int64_t c, const Two& sum) {
    if (!to_gamma.empty()) to_gamma.set(c, static_cast<float>(sum.b));
    if (!to_beta.empty()) to_beta.set(c, static_cast<float>(sum.a));
  };
  if (by_blocks(stream_, of)) {
    if (parameters)
      sum_columns<Two>(
          stream_, of.n * of.s, of.c,
          [=] DL_DEVICE(std::int64_t i, std::int64_t c) {
            const std::int64_t n = of.s == 1 ? i : quotient(i, of.s);
            const std::int64_t g = of.g == 1 ? 0 : quotient(c, of.width);
            const std::int64_t group = n * of.g + g;
            const float d = backward.dy[i * of.c + c];
            const float mean = backward.statistics[2 * group];
            return Two{d, d * ((backward.x[i * of.c + c] - mean) *
                               backward.statistics[2 * group + 1])};
          },
          finish);
    if (!dx.empty())
      blocks(stream_, of.n * of.g, threads_for(of.s * of.width), sizeof(Two),
             GroupGradient{backward});
    return;
  }
  const StripGrid grid = strip_grid(stream_, of.n, of.s, of.c, kRowsEach,
                                    most_ranges(stream_, of));
  const std::int64_t rows = of.n * grid.ranges;
  Two* const sums = stream_.scratch<Two>(rows * of.c + of.n * of.g);
  Two* const of_groups = sums + rows * of.c;
  sum_strips(stream_, grid, SumGroupSlopes{backward}, sums);
  if (parameters)
    reduce_rows(
        stream_, of.c, rows, Two{},
        [=] DL_DEVICE(std::int64_t c, std::int64_t j) {
          return sums[j * of.c + c];
        },
        Sum{}, finish);
  if (dx.empty()) return;
  reduce_rows(
      stream_, of.n * of.g, grid.ranges * of.width, Two{},
      OfGroup{of, grid.ranges, sums, channels(gamma)}, Sum{},
      [=] DL_DEVICE(std::int64_t i, const Two& sum) { of_groups[i] = sum; });
  each_strip(stream_, of.n, of.s, of.c, GroupsGradient{backward, of_groups});
}

}  // namespace dl::device::cuda
