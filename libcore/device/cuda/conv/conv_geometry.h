// The pixels of images or volumes that meet the taps of a kernel, for products
// that read them as matrices.  Numbers are of 32 bits, and what is divided by
// again and again has a factor to multiply with.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_CONV_GEOMETRY_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_CONV_GEOMETRY_H_

#include <bit>
#include <cstdint>

#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

// n / d as n * factor >> shift.
struct Divisor {
  std::uint32_t factor, shift, d;

  // For all n from 0 to 2^31 - 1: the factor, rounded up, is too large by less
  // than d / 2^shift, and n of these are less than 1 / d.
  static Divisor of(int divisor) {
    const auto d = static_cast<std::uint32_t>(divisor);
    const auto shift = 31 + static_cast<std::uint32_t>(std::bit_width(d - 1));
    return {
        static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + d - 1) / d),
        shift, d};
  }
  DL_BOTH int quotient(int n) const {
    return static_cast<int>(
        (std::uint64_t{static_cast<std::uint32_t>(n)} * factor) >> shift);
  }
  DL_BOTH int rest(int n, int quotient) const {
    return n - quotient * static_cast<int>(d);
  }
};

// The same where n d < 2^31, which a thread makes without divisions of 64 bits.
struct FewDivisor {
  std::uint32_t factor, d;

  DL_BOTH static FewDivisor of(int divisor) {
    const auto d = static_cast<std::uint32_t>(divisor);
    return {(0x80000000U + d - 1) / d, d};
  }
  DL_BOTH int quotient(int n) const {
    return static_cast<int>(
        (std::uint64_t{static_cast<std::uint32_t>(n)} * factor) >> 31);
  }
  DL_BOTH int rest(int n, int quotient) const {
    return n - quotient * static_cast<int>(d);
  }
};

// One of the three axes: at a position, a tap lies on the pixel
// position * step + first + tap * tap_step, if there is one.
struct ConvAxis {
  int positions, taps, step, first, tap_step, pixels;

  // Taps from `begin` that lie on a pixel at some position from p to q: no
  // others do, though some of these may not at each.
  struct Hits {
    int begin, count;
  };
  DL_BOTH Hits hits(int p, int q) const {
    int low = p * step + first, high = q * step + first;
    int begin = 0, end = 0;
    if (tap_step > 0) {
      begin = high >= 0 ? 0 : (tap_step - 1 - high) / tap_step;
      end = low >= pixels ? 0 : (pixels - 1 - low) / tap_step + 1;
    } else {
      begin = low < pixels ? 0 : (low - pixels) / -tap_step + 1;
      end = high < 0 ? 0 : high / -tap_step + 1;
    }
    end = end < taps ? end : taps;
    return {begin, end > begin ? end - begin : 0};
  }
};

struct Place {
  int example, d, h, w;
};

// Rows of a matrix are positions, of all examples: example by example, or
// position by position, so that neighbors miss the same taps.
struct Places {
  Divisor split;  // by the positions of an example, or the examples
  bool by_position;
  Divisor plane, row;  // of an example

  DL_BOTH Place of(int m) const {
    const int over = split.quotient(m), under = split.rest(m, over);
    Place p{};
    p.example = by_position ? under : over;
    const int at = by_position ? over : under;
    p.d = plane.quotient(at);
    const int in_plane = plane.rest(at, p.d);
    p.h = row.quotient(in_plane);
    p.w = row.rest(in_plane, p.h);
    return p;
  }
};

// A box of taps.  The sum runs over numbers of (tap, channel), channels of a
// group innermost.
struct TapBox {
  int d, h, w;            // its first
  FewDivisor plane, row;  // of taps
  int count;              // times channels

  struct Tap {
    int d, h, w, channel;
  };
  DL_BOTH Tap of(int k, const Divisor& channels) const {
    const int at = channels.quotient(k);
    const int in_d = plane.quotient(at), in_plane = plane.rest(at, in_d);
    const int in_h = row.quotient(in_plane);
    return {d + in_d, h + in_h, w + row.rest(in_plane, in_h),
            channels.rest(k, at)};
  }
};

// Pixels that are read, and their places: pixels [examples, d, h, w, channels].
struct Pixels {
  ConvAxis d, h, w;
  Places places;
  int channels;        // of a pixel
  int group_channels;  // that a filter sees
  Divisor by_group_channels;
  int example;  // its elements

  // The pixel of the first tap, or of another one's relative to that.
  struct At {
    int offset, d, h, w;
  };
  static constexpr int kNowhere = -(1 << 30);

  DL_BOTH int offset(int at_d, int at_h, int at_w) const {
    return ((at_d * h.pixels + at_h) * w.pixels + at_w) * channels;
  }
  DL_BOTH At position(int m) const {
    const Place p = places.of(m);
    At at{};
    at.d = p.d * d.step + d.first;
    at.h = p.h * h.step + h.first;
    at.w = p.w * w.step + w.first;
    at.offset = p.example * example + offset(at.d, at.h, at.w);
    return at;
  }
  DL_BOTH At tap(const TapBox& box, int k) const {
    const TapBox::Tap t = box.of(k, by_group_channels);
    At at{};
    at.d = t.d * d.tap_step;
    at.h = t.h * h.tap_step;
    at.w = t.w * w.tap_step;
    at.offset = offset(at.d, at.h, at.w) + t.channel;
    return at;
  }
  DL_BOTH bool meet(const At& position, const At& tap) const {
    return static_cast<unsigned>(position.d + tap.d) <
               static_cast<unsigned>(d.pixels) &&
           static_cast<unsigned>(position.h + tap.h) <
               static_cast<unsigned>(h.pixels) &&
           static_cast<unsigned>(position.w + tap.w) <
               static_cast<unsigned>(w.pixels);
  }

  DL_BOTH TapBox all_taps() const {
    return box({0, d.taps}, {0, h.taps}, {0, w.taps});
  }
  // Taps that rows from m to `last` meet.
  DL_BOTH TapBox taps_of(int m, int last) const {
    const Place p = places.of(m), q = places.of(last);
    const bool plane = p.d == q.d, line = plane && p.h == q.h;
    return box(d.hits(p.d, q.d),
               plane ? h.hits(p.h, q.h) : ConvAxis::Hits{0, h.taps},
               line ? w.hits(p.w, q.w) : ConvAxis::Hits{0, w.taps});
  }
  DL_BOTH TapBox box(ConvAxis::Hits in_d, ConvAxis::Hits in_h,
                     ConvAxis::Hits in_w) const {
    const int in_plane = in_h.count * in_w.count;
    TapBox b{};
    b.d = in_d.begin;
    b.h = in_h.begin;
    b.w = in_w.begin;
    b.count = in_d.count * in_plane * group_channels;
    if (b.count == 0) return b;
    b.plane = FewDivisor::of(in_plane);
    b.row = FewDivisor::of(in_w.count);
    return b;
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_CONV_GEOMETRY_H_
