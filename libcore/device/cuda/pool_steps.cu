// Pooling over steps.  A block looks at all steps of one example, and at
// features side by side.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {
using tensor::View;

namespace {

// How blocks are laid over the features of all examples.
struct Tiles {
  Steps of;
  unsigned wide;      // features of a block
  std::int64_t each;  // tiles of an example
  Reals mask;         // or none

  DL_DEVICE std::int64_t example(const Block& b) const {
    return b.index / each;
  }
  DL_DEVICE std::int64_t feature(const Block& b) const {
    return b.index % each * wide + b.thread % wide;
  }
  // The steps of this thread: the first, and how far apart.
  DL_DEVICE std::int64_t first(const Block& b) const { return b.thread / wide; }
  DL_DEVICE std::int64_t apart(const Block& b) const {
    return b.threads / wide;
  }
  DL_DEVICE bool counts(const Block& b, std::int64_t s) const {
    return mask.empty() || mask[example(b) * of.s + s] != 0;
  }
  DL_DEVICE std::int64_t place(const Block& b, std::int64_t s) const {
    return (example(b) * of.s + s) * of.c + feature(b);
  }
  DL_DEVICE std::int64_t result(const Block& b) const {
    return example(b) * of.c + feature(b);
  }

  // item(s) of the steps that count, put together for this feature.
  template <class T, class Item, class Combine>
  DL_DEVICE T over_steps(const Block& b, T zero, const Item& item,
                         const Combine& combine) const {
    T mine = zero;
    if (feature(b) < of.c)
      for (std::int64_t s = first(b); s < of.s; s += apart(b))
        if (counts(b, s)) mine = combine(mine, item(s));
    T* const all = reinterpret_cast<T*>(b.shared);
    all[b.thread] = mine;
    b.sync();
    for (unsigned half = b.threads / 2; half >= wide; half /= 2) {
      if (b.thread < half)
        all[b.thread] = combine(all[b.thread], all[b.thread + half]);
      b.sync();
    }
    return all[b.thread % wide];
  }
};

struct PooledStep {
  double value;
  std::int64_t count;
};

struct CombinePooled {
  bool largest;
  DL_DEVICE PooledStep operator()(const PooledStep& a,
                                  const PooledStep& b) const {
    return {largest ? Largest{}(a.value, b.value) : a.value + b.value,
            a.count + b.count};
  }
};

struct Pool {
  Tiles tiles;
  PoolSteps spec;
  Reals y, x;

  DL_DEVICE double item(float value) const {
    if (spec.kind != StepPooling::kPNorm) return value;
    const double size = std::fabs(value);
    return spec.p == 2   ? size * size
           : spec.p == 1 ? size
                         : std::pow(size, spec.p);
  }
  DL_DEVICE double result(const PooledStep& all) const {
    if (all.count == 0) return 0;
    if (spec.kind == StepPooling::kAverage)
      return all.value / static_cast<double>(all.count);
    if (spec.kind != StepPooling::kPNorm) return all.value;
    return spec.p == 2 ? std::sqrt(all.value) : std::pow(all.value, 1 / spec.p);
  }
  DL_DEVICE void operator()(const Block& b) const {
    const bool largest = spec.kind == StepPooling::kMax;
    const PooledStep all = tiles.over_steps(
        b, PooledStep{largest ? -HUGE_VAL : 0.0, 0},
        [&](std::int64_t s) {
          return PooledStep{item(x[tiles.place(b, s)]), 1};
        },
        CombinePooled{largest});
    if (b.thread < tiles.wide && tiles.feature(b) < tiles.of.c)
      y.set(tiles.result(b), static_cast<float>(result(all)));
  }
};

struct Least {
  DL_DEVICE std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return a < b ? a : b;
  }
};

struct PoolGradient {
  Tiles tiles;
  PoolSteps spec;
  Reals dx, dy, y, x;

  // Gradient of a norm.
  DL_DEVICE float slope(float value, float norm) const {
    if (norm == 0 || value == 0) return 0;
    const float share = std::fabs(value) / norm;
    const float size = spec.p == 2 ? share
                       : spec.p == 1
                           ? 1
                           : std::pow(share, static_cast<float>(spec.p - 1));
    return std::copysign(size, value);
  }
  DL_DEVICE void operator()(const Block& b) const {
    const bool inside = tiles.feature(b) < tiles.of.c;
    const float up = inside ? dy[tiles.result(b)] : 0;
    const float found = inside ? y[tiles.result(b)] : 0;
    std::int64_t winner = 0, count = 1;
    if (spec.kind == StepPooling::kMax)
      winner = tiles.over_steps(
          b, tiles.of.s,
          [&](std::int64_t s) {
            const float value = y.nearest(x[tiles.place(b, s)]);
            const bool same =
                value == found || (value != value && found != found);
            return same ? s : tiles.of.s;
          },
          Least{});
    if (spec.kind == StepPooling::kAverage)
      count = tiles.over_steps(
          b, std::int64_t{0}, [](std::int64_t) { return std::int64_t{1}; },
          Sum{});
    if (!inside) return;
    for (std::int64_t s = tiles.first(b); s < tiles.of.s; s += tiles.apart(b)) {
      const std::int64_t i = tiles.place(b, s);
      const bool counted = tiles.counts(b, s);
      if (!counted || (spec.kind == StepPooling::kMax && s != winner))
        dx.set(i, 0);
      else if (spec.kind == StepPooling::kPNorm)
        dx.set(i, up * slope(x[i], found));
      else
        dx.set(i, up / static_cast<float>(count));
    }
  }
};

Tiles tiles_of(const Stream& stream, const Steps& of, const View& mask) {
  unsigned wide = std::min(32U, stream.most_threads());
  while (wide > 1 && wide / 2 >= of.c) wide /= 2;
  return {of, wide, (of.c + wide - 1) / wide, Reals(mask)};
}

// Few steps need few threads.
unsigned threads_of(const Tiles& tiles) {
  unsigned threads = tiles.wide;
  while (threads < kThreads &&
         (threads < 32 || threads / tiles.wide * 2 < tiles.of.s))
    threads *= 2;
  return threads;
}

}  // namespace

void CudaDevice::pool_steps(const PoolSteps& spec, View y, View x, View mask) {
  const Steps of = check_pool_steps(kReals, spec, y, x, mask);
  const Tiles tiles = tiles_of(stream_, of, mask);
  blocks(stream_, of.n * tiles.each, threads_of(tiles), sizeof(PooledStep),
         Pool{tiles, spec, Reals(y), Reals(x)});
}

void CudaDevice::pool_steps_gradient(const PoolSteps& spec, View dx, View dy,
                                     View y, View x, View mask) {
  const Steps of = check_pool_steps(kReals, spec, y, x, mask);
  check_pool_steps(kReals, spec, dy, dx, mask);
  const Tiles tiles = tiles_of(stream_, of, mask);
  blocks(stream_, of.n * tiles.each, threads_of(tiles), sizeof(std::int64_t),
         PoolGradient{tiles, spec, Reals(dx), Reals(dy), Reals(y), Reals(x)});
}

}  // namespace dl::device::cuda
