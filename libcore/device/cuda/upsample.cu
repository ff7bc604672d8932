// Bilinear upsampling, a row of the result at a time.  For its gradient each
// pixel of dx looks at those of dy that it had a share in.

#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/reduce.h"

namespace dl::device::cuda {

namespace {

// The two places of x along one axis that a place of y lies between.
struct Between {
  std::int64_t low, high;
  float low_share, high_share;
};
// Extents of an axis are far below 2^31, and divisions of 32 bits are faster.
DL_DEVICE inline Between between(std::uint32_t at, std::uint32_t factor,
                                 std::uint32_t extent) {
  // (at + 1/2) / factor - 1/2, in halves of 1 / factor; low is one more.
  const std::uint32_t place = 2 * at + 1 + factor, low = place / (2 * factor);
  const float share = static_cast<float>(place - low * 2 * factor) /
                      static_cast<float>(2 * factor);
  return {low > 0 ? low - 1 : 0, low < extent ? low : extent - 1, 1 - share,
          share};
}

// A block makes a row of y from the two of x that it lies between.
struct UpsampleRow {
  Upsampling u;
  Reals y, x;

  DL_DEVICE void operator()(const Block& b) const {
    const std::int64_t height = u.height * u.factor[0];
    const std::int64_t width = u.width * u.factor[1], row = width * u.channels;
    const std::int64_t from = u.width * u.channels;
    const Between h = between(static_cast<std::uint32_t>(b.index % height),
                              static_cast<std::uint32_t>(u.factor[0]),
                              static_cast<std::uint32_t>(u.height));
    const Reals image = x + b.index / height * u.height * from;
    const Reals above = image + h.low * from, below = image + h.high * from;
    for (std::int64_t e = b.thread; e < row; e += b.threads) {
      const std::int64_t pixel = e / u.channels, c = e - pixel * u.channels;
      const Between w = between(static_cast<std::uint32_t>(pixel),
                                static_cast<std::uint32_t>(u.factor[1]),
                                static_cast<std::uint32_t>(u.width));
      const std::int64_t left = w.low * u.channels + c;
      const std::int64_t right = w.high * u.channels + c;
      y.set(b.index * row + e,
            h.low_share *
                    (w.low_share * above[left] + w.high_share * above[right]) +
                h.high_share *
                    (w.low_share * below[left] + w.high_share * below[right]));
    }
  }
};

// Places of y that have a share of place i of x: `factor` from where it begins
// to where it is all, and as many to where it ends, but for what is cut off.
struct Shares {
  std::int64_t i, factor, extent;

  DL_DEVICE std::int64_t first() const { return (i - 1) * factor + factor / 2; }
  DL_DEVICE std::int64_t begin() const { return i == 0 ? 0 : first(); }
  DL_DEVICE std::int64_t end() const {
    return i + 1 == extent ? extent * factor : first() + 2 * factor;
  }
  DL_DEVICE float of(std::int64_t at) const {
    const std::int64_t k = at - first();
    // The outermost are repeated.
    if (k < factor ? i == 0 : i + 1 == extent) return 1;
    const float share = static_cast<float>(2 * k + 1 - factor % 2) /
                        static_cast<float>(2 * factor);
    return k < factor ? share : 2 - share;
  }
};

}  // namespace

void CudaDevice::upsample_bilinear(View y, View x) {
  const Upsampling u = check_upsampling(kReals, y, x);
  blocks(stream_, u.n * u.height * u.factor[0],
         threads_for(u.width * u.factor[1] * u.channels), 0,
         UpsampleRow{u, Reals(y), Reals(x)});
}

void CudaDevice::upsample_bilinear_gradient(View dx, View dy) {
  const Upsampling u = check_upsampling(kReals, dy, dx);
  const Reals to(dx), from(dy);
  each(stream_, dx.elements(), [=] DL_DEVICE(std::int64_t e) {
    const std::int64_t width = u.width * u.factor[1];
    const std::int64_t pixel = e / u.channels, row = pixel / u.width;
    const std::int64_t image = row / u.height;
    const Shares rows{row - image * u.height, u.factor[0], u.height};
    const Shares columns{pixel - row * u.width, u.factor[1], u.width};
    const Reals up = from +
                     image * u.height * u.factor[0] * width * u.channels +
                     (e - pixel * u.channels);
    double sum = 0;
    for (std::int64_t r = rows.begin(); r < rows.end(); ++r) {
      float along = 0;
      for (std::int64_t c = columns.begin(); c < columns.end(); ++c)
        along += columns.of(c) * up[(r * width + c) * u.channels];
      sum += rows.of(r) * along;
    }
    to.set(e, static_cast<float>(sum));
  });
}

}  // namespace dl::device::cuda
