// Moving numbers about.  Extents are put in the order in which y is written and
// merged where they are contiguous; the two innermost are one loop nest.  Where
// x is contiguous along another extent than y, blocks are transposed.
//
// Sums run in double, in the order of their extents: whatever is beside an
// element does not change it.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "libcore/device/axes.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace {

// Calls f(y, x) for each combination of the extents from k on.
template <typename F>
void walk(const Axes& axes, int k, float* y, const float* x, F& f) {
  if (k == axes.size()) return f(y, x);
  const Axis axis = axes[k];
  for (std::int64_t i = 0; i < axis.extent; ++i)
    walk(axes, k + 1, y + i * axis.y, x + i * axis.x, f);
}

}  // namespace

namespace kernels {

DL_VECTOR void copy_plane(float* y, const float* x, Axis outer, Axis inner) {
  const bool runs = inner.y == 1 && inner.x == 1;
  for (std::int64_t i = 0; i < outer.extent; ++i) {
    float* to = y + i * outer.y;
    const float* from = x + i * outer.x;
    if (runs) {
      std::memcpy(to, from,
                  static_cast<std::size_t>(inner.extent) * sizeof(float));
    } else if (inner.y == 1 && inner.x == 0) {
      std::fill_n(to, inner.extent, *from);
    } else {
      DL_INDEPENDENT
      for (std::int64_t j = 0; j < inner.extent; ++j)
        to[j * inner.y] = from[j * inner.x];
    }
  }
}

DL_VECTOR void add_plane(float* y, const float* x, Axis outer, Axis inner) {
  const bool runs = inner.y == 1 && inner.x == 1;
  for (std::int64_t i = 0; i < outer.extent; ++i) {
    float* to = y + i * outer.y;
    const float* from = x + i * outer.x;
    if (runs) {
      DL_INDEPENDENT
      for (std::int64_t j = 0; j < inner.extent; ++j) to[j] += from[j];
    } else {
      DL_INDEPENDENT
      for (std::int64_t j = 0; j < inner.extent; ++j)
        to[j * inner.y] += from[j * inner.x];
    }
  }
}

// sum[j] += the elements of `terms`, one after the other.
DL_VECTOR void sum_plane(double* sum, const float* x, std::int64_t width,
                         std::int64_t step, Axis terms) {
  for (std::int64_t i = 0; i < terms.extent; ++i, x += terms.x) {
    if (step == 1) {
      DL_INDEPENDENT
      for (std::int64_t j = 0; j < width; ++j) sum[j] += x[j];
    } else {
      DL_INDEPENDENT
      for (std::int64_t j = 0; j < width; ++j) sum[j] += x[j * step];
    }
  }
}

}  // namespace kernels

namespace {

// y is contiguous along `down`, x along `across`.
void transpose_plane(float* y, const float* x, Axis across, Axis down,
                     bool add) {
  constexpr std::int64_t kMostLanes = 16;
  const std::int64_t lanes = best_kernels().lanes;
  float block[kMostLanes * kMostLanes];
  for (std::int64_t i = 0; i < down.extent; i += lanes) {
    const std::int64_t rows = std::min(lanes, down.extent - i);
    for (std::int64_t j = 0; j < across.extent; j += lanes) {
      const std::int64_t columns = std::min(lanes, across.extent - j);
      float* to = y + i + j * across.y;
      const float* from = x + i * down.x + j;
      best_kernels().transpose(block, lanes, from, down.x,
                               static_cast<int>(rows), columns);
      (add ? kernels::add_plane : kernels::copy_plane)(
          to, block, {columns, across.y, lanes}, {rows, 1, 1});
    }
  }
}

void copy_axes(Axes axes, float* y, const float* x, bool add) {
  constexpr std::int64_t kWorthIt = 4;
  if (axes.size() == 0) axes.append({1, 1, 1});
  const int across = contiguous_in_x(axes, kWorthIt);
  const Axis inner = axes.take(axes.size() - 1);
  if (across >= 0) {
    const Axis other = axes.take(across);
    auto turn = [&](float* to, const float* from) {
      transpose_plane(to, from, other, inner, add);
    };
    return walk(axes, 0, y, x, turn);
  }
  const Axis outer = axes.size() > 0 ? axes.take(axes.size() - 1) : Axis{};
  auto copy = [&](float* to, const float* from) {
    (add ? kernels::add_plane : kernels::copy_plane)(to, from, outer, inner);
  };
  walk(axes, 0, y, x, copy);
}

// The axis to sum side by side: contiguous if that is worth it, or the longest.
int side_by_side(const Axes& kept) {
  constexpr std::int64_t kWorthIt = 8;
  int best = 0;
  for (int k = 0; k < kept.size(); ++k) {
    if (kept[k].x == 1 && kept[k].extent >= kWorthIt) return k;
    if (kept[k].extent > kept[best].extent) best = k;
  }
  return best;
}

// y += the sums of x over `terms`.
void sum_axes(Axes kept, Axes terms, float* y, const float* x) {
  constexpr std::int64_t kWidth = 128;
  double sum[kWidth];
  const Axis strip = kept.size() > 0 ? kept.take(side_by_side(kept)) : Axis{};
  const Axis last = terms.take(terms.size() - 1);
  auto sum_strip = [&](float* to, const float* from) {
    for (std::int64_t j = 0; j < strip.extent; j += kWidth) {
      const std::int64_t width = std::min(kWidth, strip.extent - j);
      std::fill_n(sum, width, 0.0);
      auto one = [&](float*, const float* at) {
        kernels::sum_plane(sum, at, width, strip.x, last);
      };
      walk(terms, 0, to, from + j * strip.x, one);
      for (std::int64_t i = 0; i < width; ++i)
        to[(j + i) * strip.y] += static_cast<float>(sum[i]);
    }
  };
  walk(kept, 0, y, x, sum_strip);
}

}  // namespace

void CpuDevice::copy_strided(const Strided& s, View y, View x, bool add) {
  check_reals(tensor::DType::kF32, {y, x});
  check_strided(s, y, x, add);
  if (moves_nothing(s)) return;
  const Loops loops = loops_of(s);
  float* to = y.as<float>() + loops.y_offset;
  const float* from = x.as<float>() + loops.x_offset;
  if (loops.terms.size() == 0)
    copy_axes(loops.kept, to, from, add);
  else
    sum_axes(loops.kept, loops.terms, to, from);
}

}  // namespace dl::device
