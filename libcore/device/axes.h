// A strided copy (device/api/strided.h) as loops.

#ifndef DL_LIBCORE_DEVICE_AXES_H_
#define DL_LIBCORE_DEVICE_AXES_H_

#include <cstddef>
#include <cstdint>

#include "libcore/device/api/strided.h"

namespace dl::device {

struct Axis {
  std::int64_t extent = 1, y = 0, x = 0;
};

struct Axes {
  Axis axis[Strided::kMaxRank];
  int count = 0;

  int size() const { return count; }
  const Axis& operator[](int k) const { return axis[k]; }
  Axis& operator[](int k) { return axis[k]; }
  // Number of elements of the extents.
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int k = 0; k < count; ++k) n *= axis[k].extent;
    return n;
  }
  // Merges with the last one where the two are contiguous.
  void append(const Axis& next) {
    if (count > 0) {
      Axis& last = axis[count - 1];
      if (last.y == next.y * next.extent && last.x == next.x * next.extent) {
        last = {last.extent * next.extent, next.y, next.x};
        return;
      }
    }
    axis[count++] = next;
  }
  Axis take(int k) {
    const Axis taken = axis[k];
    for (int i = k + 1; i < count; ++i) axis[i - 1] = axis[i];
    --count;
    return taken;
  }
};

// For each element of y that `kept` leads to, from the offsets on, the sum over
// `terms`.  kept: with y's strides falling, none of them negative.
struct Loops {
  Axes kept, terms;
  std::int64_t y_offset = 0, x_offset = 0;
};

// s has been checked, check_strided(), and no extent is 0.
inline Loops loops_of(const Strided& s) {
  Loops loops{{}, {}, s.y_offset, s.x_offset};
  Axis written[Strided::kMaxRank];
  int count = 0;
  for (int k = 0; k < s.rank; ++k) {
    Axis axis{s.extent[k], s.y_stride[k], s.x_stride[k]};
    if (axis.extent == 1) continue;
    if (axis.y == 0) {
      loops.terms.append(axis);
      continue;
    }
    if (axis.y < 0) {  // the same pairs from the other end
      loops.y_offset += (axis.extent - 1) * axis.y;
      loops.x_offset += (axis.extent - 1) * axis.x;
      axis.y = -axis.y;
      axis.x = -axis.x;
    }
    // Sorted without the memory that std::stable_sort() would ask for.
    int place = count++;
    for (; place > 0 && written[place - 1].y < axis.y; --place)
      written[place] = written[place - 1];
    written[place] = axis;
  }
  for (int k = 0; k < count; ++k) loops.kept.append(written[k]);
  return loops;
}

inline bool moves_nothing(const Strided& s) {
  for (int k = 0; k < s.rank; ++k)
    if (s.extent[k] == 0) return true;
  return false;
}

// The axis beside the last along which x is contiguous, where the last one has
// y contiguous and x not; or -1.  Whoever follows either alone leaps through
// the memory of the other.
inline int contiguous_in_x(const Axes& axes, std::int64_t least) {
  if (axes.size() == 0) return -1;
  const Axis& last = axes[axes.size() - 1];
  if (last.y != 1 || last.x <= 1 || last.extent < least) return -1;
  for (int k = 0; k + 1 < axes.size(); ++k)
    if (axes[k].x == 1 && axes[k].extent >= least) return k;
  return -1;
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_AXES_H_
