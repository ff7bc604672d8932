// Moving numbers about.  Extents are put in the order in which y is written and
// merged where they are contiguous; the two innermost are one loop nest.  Where
// x is contiguous along another extent than y, blocks are transposed.
//
// Sums run in double, in the order of their extents: whatever is beside an
// element does not change it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace {

struct Axis {
  std::int64_t extent = 1, y = 0, x = 0;
};

class Axes {
 public:
  int size() const { return count_; }
  const Axis& operator[](int k) const {
    return axes_[static_cast<std::size_t>(k)];
  }
  Axis& operator[](int k) { return axes_[static_cast<std::size_t>(k)]; }
  // Merges with the last one where the two are contiguous.
  void append(const Axis& axis) {
    if (count_ > 0) {
      Axis& last = (*this)[count_ - 1];
      if (last.y == axis.y * axis.extent && last.x == axis.x * axis.extent) {
        last = {last.extent * axis.extent, axis.y, axis.x};
        return;
      }
    }
    (*this)[count_++] = axis;
  }
  Axis take(int k) {
    const Axis axis = (*this)[k];
    for (int i = k + 1; i < count_; ++i) (*this)[i - 1] = (*this)[i];
    --count_;
    return axis;
  }

 private:
  std::array<Axis, tensor::Strided::kMaxRank> axes_;
  int count_ = 0;
};

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

// The axis beside the last along which x is contiguous, or -1.
int contiguous_in_x(const Axes& axes) {
  constexpr std::int64_t kWorthIt = 4;
  const Axis& last = axes[axes.size() - 1];
  if (last.y != 1 || last.x <= 1 || last.extent < kWorthIt) return -1;
  for (int k = 0; k + 1 < axes.size(); ++k)
    if (axes[k].x == 1 && axes[k].extent >= kWorthIt) return k;
  return -1;
}

void copy_axes(Axes axes, float* y, const float* x, bool add) {
  if (axes.size() == 0) axes.append({1, 1, 1});
  const int across = contiguous_in_x(axes);
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

void CpuDevice::copy_strided(const tensor::Strided& s, View y, View x,
                             bool add) {
  check_reals(tensor::DType::kF32, {y, x});
  check_strided(s, y, x, add);
  float* to = y.as<float>() + s.y_offset;
  const float* from = x.as<float>() + s.x_offset;
  std::array<Axis, tensor::Strided::kMaxRank> written;
  std::size_t count = 0;
  Axes kept, terms;
  for (int k = 0; k < s.rank; ++k) {
    Axis axis{s.extent[k], s.y_stride[k], s.x_stride[k]};
    if (axis.extent == 0) return;
    if (axis.extent == 1) continue;
    if (axis.y == 0) {
      terms.append(axis);
      continue;
    }
    if (axis.y < 0) {  // the same pairs from the other end
      to += (axis.extent - 1) * axis.y;
      from += (axis.extent - 1) * axis.x;
      axis.y = -axis.y;
      axis.x = -axis.x;
    }
    // Sorted without the memory that std::stable_sort() would ask for.
    std::size_t place = count++;
    for (; place > 0 && written[place - 1].y < axis.y; --place)
      written[place] = written[place - 1];
    written[place] = axis;
  }
  for (std::size_t k = 0; k < count; ++k) kept.append(written[k]);
  if (terms.size() == 0)
    copy_axes(kept, to, from, add);
  else
    sum_axes(kept, terms, to, from);
}

}  // namespace dl::device
