// Pooling.  Pixels are vectors of channels here, so the loops over channels
// vectorise; oneDNN's maximum is not faster and would lose NaN.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

using tensor::Pool2dSpec;

// Calls f(y, count) for each output pixel, then tap(y, x, t) for each pixel of
// its window that lies inside the image: y and x are offsets of the pixels'
// first channel, t counts the places of the window, count those inside.
template <typename F, typename Tap>
DL_INLINE void for_each_window(const Pool2dSpec& s, std::int64_t batch, F f,
                               Tap tap) {
  const std::int64_t out_height = s.out_height(), out_width = s.out_width();
  std::int64_t y = 0;
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t oh = 0; oh < out_height; ++oh)
      for (std::int64_t ow = 0; ow < out_width; ++ow, y += s.channels) {
        const std::int64_t top = oh * s.stride[0] - s.pad_begin[0];
        const std::int64_t left = ow * s.stride[1] - s.pad_begin[1];
        const std::int64_t h0 = std::max<std::int64_t>(top, 0);
        const std::int64_t w0 = std::max<std::int64_t>(left, 0);
        const std::int64_t h1 = std::min(top + s.kernel[0], s.height);
        const std::int64_t w1 = std::min(left + s.kernel[1], s.width);
        f(y, (h1 - h0) * (w1 - w0));
        for (std::int64_t h = h0; h < h1; ++h)
          for (std::int64_t w = w0; w < w1; ++w)
            tap(y, ((n * s.height + h) * s.width + w) * s.channels,
                static_cast<std::int32_t>((h - top) * s.kernel[1] + w - left));
      }
}

// `chosen` takes the place of each maximum: the first of equals.
DL_VECTOR void max_pool_training(const Pool2dSpec& s, std::int64_t batch,
                                 float* y, std::int32_t* chosen,
                                 const float* x) {
  bool first = true;
  for_each_window(
      s, batch, [&](std::int64_t, std::int64_t) { first = true; },
      [&](std::int64_t to, std::int64_t from, std::int32_t t) {
        if (first) {
          for (std::int64_t c = 0; c < s.channels; ++c) {
            y[to + c] = x[from + c];
            chosen[to + c] = t;
          }
          first = false;
          return;
        }
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c) {
          const float value = x[from + c], best = y[to + c];
          const bool better = !(value <= best) && best == best;  // NaN wins
          y[to + c] = better ? value : best;
          chosen[to + c] = better ? t : chosen[to + c];
        }
      });
}

DL_VECTOR void max_pool(const Pool2dSpec& s, std::int64_t batch, float* y,
                        const float* x) {
  bool first = true;
  for_each_window(
      s, batch, [&](std::int64_t, std::int64_t) { first = true; },
      [&](std::int64_t to, std::int64_t from, std::int32_t) {
        if (first) {
          std::copy_n(x + from, s.channels, y + to);
          first = false;
          return;
        }
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c) {
          const float value = x[from + c], best = y[to + c];
          const bool better = !(value <= best) && best == best;
          y[to + c] = better ? value : best;
        }
      });
}

DL_VECTOR void max_pool_gradient(const Pool2dSpec& s, std::int64_t batch,
                                 float* dx, const std::int32_t* chosen,
                                 const float* dy) {
  for_each_window(
      s, batch, [](std::int64_t, std::int64_t) {},
      [&](std::int64_t y, std::int64_t x, std::int32_t t) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          dx[x + c] += chosen[y + c] == t ? dy[y + c] : 0.0f;
      });
}

DL_VECTOR void average_pool(const Pool2dSpec& s, std::int64_t batch, float* y,
                            const float* x) {
  float share = 0;
  for_each_window(
      s, batch,
      [&](std::int64_t to, std::int64_t count) {
        std::fill_n(y + to, s.channels, 0.0f);
        share = 1.0f / static_cast<float>(count);
      },
      [&](std::int64_t to, std::int64_t from, std::int32_t) {
        const float factor = share;
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          y[to + c] += factor * x[from + c];
      });
}

DL_VECTOR void average_pool_gradient(const Pool2dSpec& s, std::int64_t batch,
                                     float* dx, const float* dy) {
  float share = 0;
  for_each_window(
      s, batch,
      [&](std::int64_t, std::int64_t count) {
        share = 1.0f / static_cast<float>(count);
      },
      [&](std::int64_t y, std::int64_t x, std::int32_t) {
        const float factor = share;
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          dx[x + c] += factor * dy[y + c];
      });
}

}  // namespace kernels

namespace {

using tensor::DType;
using tensor::Pool2dSpec;
using tensor::Pooling;
using tensor::View;

class CpuPool2d final : public tensor::Pool2d {
 public:
  CpuPool2d(const Pool2dSpec& spec, std::int64_t max_batch)
      : spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    if (spec.kind == Pooling::kMax)
      chosen_.resize(static_cast<std::size_t>(
          max_batch * spec.out_height() * spec.out_width() * spec.channels));
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(spec_, max_batch_, x, y);
    if (training) trained_ = batch;
    if (spec_.kind == Pooling::kAverage) {
      kernels::average_pool(spec_, batch, y.as<float>(), x.as<float>());
    } else if (training) {
      kernels::max_pool_training(spec_, batch, y.as<float>(), chosen_.data(),
                                 x.as<float>());
    } else {
      kernels::max_pool(spec_, batch, y.as<float>(), x.as<float>());
    }
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF32, {dx, dy});
    const std::int64_t batch = check_images(spec_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    std::fill_n(dx.as<float>(), dx.elements(), 0.0f);
    if (spec_.kind == Pooling::kAverage) {
      kernels::average_pool_gradient(spec_, batch, dx.as<float>(),
                                     dy.as<float>());
    } else {
      kernels::max_pool_gradient(spec_, batch, dx.as<float>(), chosen_.data(),
                                 dy.as<float>());
    }
  }

 private:
  Pool2dSpec spec_;
  std::int64_t max_batch_;
  std::vector<std::int32_t> chosen_;  // by the last forward() for training
  std::int64_t trained_ = 0;          // its batch
};

}  // namespace

std::unique_ptr<tensor::Pool2d> CpuDevice::pool2d(const Pool2dSpec& spec,
                                                  std::int64_t max_batch) {
  return std::make_unique<CpuPool2d>(spec, max_batch);
}

}  // namespace dl::device
