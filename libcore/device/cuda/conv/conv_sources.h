// The matrices of convolutions, as gemm_loader.h reads them.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_CONV_SOURCES_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_CONV_SOURCES_H_

#include <cstdint>

#include "libcore/device/cuda/conv/gemm_loader.h"

namespace dl::device::cuda {

// [positions, (tap, channel)]: what each window sees.
struct Windows {
  static constexpr bool with_k = true;
  using Line = Pixels::At;
  using Stop = Pixels::At;
  Pixels pixels;
  const float* from;

  DL_DEVICE void limit(GemmTask& task, int last) const {
    task.box = pixels.places.by_position ? pixels.taps_of(task.row, last)
                                         : pixels.all_taps();
    task.end = task.box.count;
  }
  DL_DEVICE static Line no_line() { return {0, Pixels::kNowhere, 0, 0}; }
  DL_DEVICE Line line(const GemmTask& task, int m) const {
    Line at = pixels.position(m);
    at.offset += task.group * pixels.group_channels;
    return at;
  }
  DL_DEVICE Stop stop(const GemmTask& task, int k) const {
    return pixels.tap(task.box, k);
  }
  DL_DEVICE const float* at(const Line& line, const Stop& stop) const {
    if (!pixels.meet(line, stop)) return nullptr;
    return from + (line.offset + stop.offset);
  }
};

// The same, with positions to sum over.
struct WindowColumns {
  static constexpr bool with_k = false;
  using Line = Pixels::At;
  using Stop = Pixels::At;
  Pixels pixels;
  const float* from;

  DL_DEVICE void limit(GemmTask& task, int) const {
    task.box = pixels.all_taps();
  }
  DL_DEVICE static Line no_line() { return {0, Pixels::kNowhere, 0, 0}; }
  DL_DEVICE Line line(const GemmTask& task, int n) const {
    Line at = pixels.tap(task.box, n);
    at.offset += task.group * pixels.group_channels;
    return at;
  }
  DL_DEVICE Stop stop(const GemmTask&, int k) const {
    return pixels.position(k);
  }
  DL_DEVICE const float* at(const Line& line, const Stop& stop) const {
    if (!pixels.meet(stop, line)) return nullptr;
    return from + (line.offset + stop.offset);
  }
};

// [(tap, channel), lines], a line being a filter or, for backward_data(), a
// channel of x, for which dy's are summed over.
template <bool of_filters>
struct TapWeights {
  static constexpr bool with_k = of_filters;
  using Line = int;
  using Stop = int;
  const float* from;
  Divisor by_group_channels;  // of what k numbers
  // Elements from one to the next; first: of the first tap.
  int each_line, channel, first, d, h, w;
  int group;

  DL_DEVICE void limit(GemmTask&, int) const {}
  DL_DEVICE static Line no_line() { return -1; }
  DL_DEVICE Line line(const GemmTask& task, int n) const {
    return task.group * group + n * each_line;
  }
  DL_DEVICE Stop stop(const GemmTask& task, int k) const {
    const TapBox::Tap t = task.box.of(k, by_group_channels);
    return first + t.d * d + t.h * h + t.w * w + t.channel * channel;
  }
  DL_DEVICE const float* at(Line line, Stop stop) const {
    return line < 0 ? nullptr : from + (line + stop);
  }
};

// [filters, positions] of dy, in ranges.
struct Slopes {
  static constexpr bool with_k = false;
  using Line = int;
  using Stop = int;
  const float* from;
  int filters, group_filters;
  int positions, range;

  DL_DEVICE void limit(GemmTask& task, int) const {
    task.begin = task.range * range;
    const int left = positions - task.begin;
    task.end = task.begin + (left < range ? left : range);
  }
  DL_DEVICE static Line no_line() { return -1; }
  DL_DEVICE Line line(const GemmTask& task, int m) const {
    return task.group * group_filters + m;
  }
  DL_DEVICE Stop stop(const GemmTask&, int k) const { return k * filters; }
  DL_DEVICE const float* at(Line line, Stop stop) const {
    return line < 0 ? nullptr : from + (line + stop);
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_CONV_SOURCES_H_
