// Windows of a convolution followed by 2x2 max pooling, and the number of
// images that are worked on at a time.

#ifndef DL_LIBCORE_DEVICE_CPU_POOLED_WINDOWS_H_
#define DL_LIBCORE_DEVICE_CPU_POOLED_WINDOWS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "libcore/device/api/conv2d.h"

namespace dl::device {

// All in floats, of one image within its border of zeros unless it says
// otherwise.
struct PooledWindows {
  explicit PooledWindows(const Conv2dSpec& s)
      : height(s.height + s.pad_begin[0] + s.pad_end[0]),
        row((s.width + s.pad_begin[1] + s.pad_end[1]) * s.channels),
        image(height * row),
        inside(s.pad_begin[0] * row + s.pad_begin[1] * s.channels),
        source_row(s.width * s.channels),
        right(s.stride[1] * s.channels),
        down(s.stride[0] * row),
        kernel_span(s.kernel[1] * s.channels),
        taps(s.kernel[0] * kernel_span),
        window_rows(s.stride[0] + s.kernel[0]),
        window_span(right + kernel_span),
        rows(s.out_height() / 2),
        columns(s.out_width() / 2),
        outputs(rows * columns) {}

  // Where output i of an image looks.
  std::int64_t window(std::int64_t i) const {
    return i / columns * 2 * down + i % columns * 2 * right;
  }

  // Images of a chunk: what fits a cache, in whole groups of `lanes` outputs
  // where that can be.
  std::int64_t chunk(std::int64_t filters, std::int64_t lanes,
                     std::int64_t max_batch) const {
    constexpr std::int64_t kImages = 64 * 1024;     // floats
    constexpr std::int64_t kGradients = 32 * 1024;  // and of their gradients
    const std::int64_t fits = std::max<std::int64_t>(
        1, std::min(kImages / image, kGradients / (outputs * filters)));
    const std::int64_t whole = lanes / std::gcd(lanes, outputs);
    return std::min(max_batch, fits > whole ? fits / whole * whole : whole);
  }

  std::int64_t height, row, image, inside, source_row;
  std::int64_t right, down;               // to the next output
  std::int64_t kernel_span, taps;         // of a filter, a row and all
  std::int64_t window_rows, window_span;  // what an output depends on
  std::int64_t rows, columns, outputs;    // pooled
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_POOLED_WINDOWS_H_
