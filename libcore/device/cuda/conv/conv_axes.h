// The geometry of a convolution's specification as kernels take it.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_CONV_AXES_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_CONV_AXES_H_

#include <array>
#include <cstdint>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/api/conv3d.h"
#include "libcore/device/cuda/conv/conv_geometry.h"

namespace dl::device::cuda {

inline int narrow(std::int64_t extent) {
  require(extent >= 0 && extent <= std::numeric_limits<int>::max(),
          "a convolution too large");
  return static_cast<int>(extent);
}

// n / by, rounded up.
inline int up(int n, int by) { return n / by + (n % by != 0); }

using ConvAxes = std::array<ConvAxis, 3>;
using Three = std::array<int, 3>;

inline std::int64_t volume(const std::array<std::int64_t, 3>& e) {
  return e[0] * e[1] * e[2];
}
inline std::int64_t positions_of(const ConvAxes& axes) {
  return volume({axes[0].positions, axes[1].positions, axes[2].positions});
}

// As of gray or colored images: see four_windows.h.
inline bool has_few_channels(const ConvAxes& axes, int channels, int groups) {
  const int taps = axes[0].taps * axes[1].taps * axes[2].taps;
  return groups == 1 && channels <= 3 && taps * channels <= 160;
}

// As windows see x.
inline ConvAxes axes_of(const Conv3dSpec& s) {
  const std::int64_t in[] = {s.depth, s.height, s.width};
  const std::int64_t out[] = {s.out_depth(), s.out_height(), s.out_width()};
  ConvAxes axes{};
  for (int k = 0; k < 3; ++k)
    axes[k] = {narrow(out[k]),        narrow(s.kernel[k]),
               narrow(s.stride[k]),   -narrow(s.pad_begin[k]),
               narrow(s.dilation[k]), narrow(in[k])};
  return axes;
}

inline Places places_of(const ConvAxes& axes, int batch, bool by_position) {
  const int plane = axes[1].positions * axes[2].positions;
  return {Divisor::of(by_position ? batch : axes[0].positions * plane),
          by_position, Divisor::of(plane), Divisor::of(axes[2].positions)};
}

// Pixels of the convolution seen from either side. sparse: rows go position by
// position.
inline Pixels pixels_of(const ConvAxes& axes, int batch, int channels,
                        int group_channels, bool sparse = false) {
  Pixels p{};
  p.d = axes[0];
  p.h = axes[1];
  p.w = axes[2];
  p.places = places_of(axes, batch, sparse);
  p.channels = channels;
  p.group_channels = group_channels;
  p.by_group_channels = Divisor::of(group_channels);
  p.example = p.d.pixels * p.h.pixels * p.w.pixels * channels;
  return p;
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_CONV_AXES_H_
