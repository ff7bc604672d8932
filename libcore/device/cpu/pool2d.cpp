// Pooling.  Pixels are vectors of channels here, so the loops over channels
// vectorise; oneDNN's maximum is not faster and would lose NaN.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

// Places of a window along one axis: those inside the image.
struct Span {
  std::int64_t start, begin, end;
};
DL_INLINE Span span_of(std::int64_t out, std::int64_t stride,
                       std::int64_t padding, std::int64_t kernel,
                       std::int64_t extent) {
  const std::int64_t start = out * stride - padding;
  return {start, std::max<std::int64_t>(start, 0),
          std::min(start + kernel, extent)};
}

// Calls f(y, count) for each output pixel, then tap(y, x, t) for each pixel of
// its window that lies inside the image: y and x are offsets of the pixels'
// first channel, t counts the places of the window, count those inside.
template <typename F, typename Tap>
DL_INLINE void for_each_window(const Pool3dSpec& s, std::int64_t batch, F f,
                               Tap tap) {
  const std::int64_t out_depth = s.out_depth(), out_height = s.out_height(),
                     out_width = s.out_width();
  std::int64_t y = 0;
  for (std::int64_t slab = 0; slab < batch * out_depth; ++slab) {
    const std::int64_t first = slab / out_depth * s.depth;
    const Span d = span_of(slab % out_depth, s.stride[0], s.pad_begin[0],
                           s.kernel[0], s.depth);
    for (std::int64_t oh = 0; oh < out_height; ++oh) {
      const Span h =
          span_of(oh, s.stride[1], s.pad_begin[1], s.kernel[1], s.height);
      for (std::int64_t ow = 0; ow < out_width; ++ow, y += s.channels) {
        const Span w =
            span_of(ow, s.stride[2], s.pad_begin[2], s.kernel[2], s.width);
        f(y, (d.end - d.begin) * (h.end - h.begin) * (w.end - w.begin));
        for (std::int64_t i = d.begin; i < d.end; ++i)
          for (std::int64_t j = h.begin; j < h.end; ++j) {
            const std::int64_t row = (first + i) * s.height + j;
            std::int64_t x = (row * s.width + w.begin) * s.channels;
            auto t = static_cast<std::int32_t>(
                ((i - d.start) * s.kernel[1] + j - h.start) * s.kernel[2] +
                w.begin - w.start);
            for (std::int64_t k = w.begin; k < w.end; ++k) {
              tap(y, x, t);
              x += s.channels;
              ++t;
            }
          }
      }
    }
  }
}

// `chosen` takes the place of each maximum: the first of equals.
DL_VECTOR void max_pool_training(const Pool3dSpec& s, std::int64_t batch,
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

DL_VECTOR void max_pool(const Pool3dSpec& s, std::int64_t batch, float* y,
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

DL_VECTOR void max_pool_gradient(const Pool3dSpec& s, std::int64_t batch,
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

DL_VECTOR void average_pool(const Pool3dSpec& s, std::int64_t batch, float* y,
                            const float* x) {
  // Divisor of every window, or 0.
  const std::int64_t whole =
      s.count_padding ? s.kernel[0] * s.kernel[1] * s.kernel[2] : 0;
  float share = 0;
  for_each_window(
      s, batch,
      [&](std::int64_t to, std::int64_t count) {
        std::fill_n(y + to, s.channels, 0.0f);
        share = 1.0f / static_cast<float>(whole > 0 ? whole : count);
      },
      [&](std::int64_t to, std::int64_t from, std::int32_t) {
        const float factor = share;
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          y[to + c] += factor * x[from + c];
      });
}

DL_VECTOR void average_pool_gradient(const Pool3dSpec& s, std::int64_t batch,
                                     float* dx, const float* dy) {
  // Divisor of every window, or 0.
  const std::int64_t whole =
      s.count_padding ? s.kernel[0] * s.kernel[1] * s.kernel[2] : 0;
  float share = 0;
  for_each_window(
      s, batch,
      [&](std::int64_t, std::int64_t count) {
        share = 1.0f / static_cast<float>(whole > 0 ? whole : count);
      },
      [&](std::int64_t y, std::int64_t x, std::int32_t) {
        const float factor = share;
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          dx[x + c] += factor * dy[y + c];
      });
}

// x^p for x >= 0; p of 1 and 2 are what is used.
DL_INLINE float power(float x, float p) {
  return p == 2.0f ? x * x : p == 1.0f ? x : std::pow(x, p);
}

template <int kP>  // 0: any, s.p
DL_VECTOR void norm_pool(const Pool3dSpec& s, std::int64_t batch, float* y,
                         const float* x) {
  const float p = kP > 0 ? static_cast<float>(kP) : static_cast<float>(s.p);
  for_each_window(
      s, batch,
      [&](std::int64_t to, std::int64_t) {
        std::fill_n(y + to, s.channels, 0.0f);
      },
      [&](std::int64_t to, std::int64_t from, std::int32_t) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c)
          y[to + c] += power(std::fabs(x[from + c]), p);
      });
  const std::int64_t n =
      batch * s.out_depth() * s.out_height() * s.out_width() * s.channels;
  if (kP == 2) {
    DL_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) y[i] = std::sqrt(y[i]);
  } else if (kP == 0) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = std::pow(y[i], 1 / p);
  }
}

// dx += dy sign(x) (|x| / y)^(p - 1), 0 where y is 0.
template <int kP>
DL_VECTOR void norm_pool_gradient(const Pool3dSpec& s, std::int64_t batch,
                                  float* dx, const float* dy, const float* y,
                                  const float* x) {
  const float p = kP > 0 ? static_cast<float>(kP) : static_cast<float>(s.p);
  for_each_window(
      s, batch, [](std::int64_t, std::int64_t) {},
      [&](std::int64_t to, std::int64_t from, std::int32_t) {
        DL_INDEPENDENT
        for (std::int64_t c = 0; c < s.channels; ++c) {
          const float value = x[from + c], norm = y[to + c];
          const float share = std::fabs(value) / (norm == 0 ? 1.0f : norm);
          const float slope = kP == 2      ? share
                              : kP == 1    ? (value == 0 ? 0.0f : 1.0f)
                              : value == 0 ? 0.0f
                                           : std::pow(share, p - 1.0f);
          dx[from + c] += dy[to + c] * std::copysign(slope, value);
        }
      });
}

}  // namespace kernels

namespace {

using tensor::DType;
using tensor::View;

template <typename Spec>
class CpuPool final : public Pool2d {
 public:
  CpuPool(const Spec& spec, std::int64_t max_batch)
      : given_(spec), spec_(volume_of(spec)), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const auto outputs = static_cast<std::size_t>(
        max_batch * spec_.out_depth() * spec_.out_height() * spec_.out_width() *
        spec_.channels);
    if (spec_.kind == Pooling::kMax) chosen_.resize(outputs);
    if (spec_.kind != Pooling::kPNorm) return;
    y_.resize(outputs);
    x_.resize(static_cast<std::size_t>(max_batch * spec_.depth * spec_.height *
                                       spec_.width * spec_.channels));
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(given_, max_batch_, x, y);
    if (training) trained_ = batch;
    if (spec_.kind == Pooling::kAverage) {
      kernels::average_pool(spec_, batch, y.as<float>(), x.as<float>());
    } else if (spec_.kind == Pooling::kPNorm) {
      norm(batch, y, x, training);
    } else if (training) {
      kernels::max_pool_training(spec_, batch, y.as<float>(), chosen_.data(),
                                 x.as<float>());
    } else {
      kernels::max_pool(spec_, batch, y.as<float>(), x.as<float>());
    }
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF32, {dx, dy});
    const std::int64_t batch = check_images(given_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    std::fill_n(dx.as<float>(), dx.elements(), 0.0f);
    if (spec_.kind == Pooling::kAverage) {
      kernels::average_pool_gradient(spec_, batch, dx.as<float>(),
                                     dy.as<float>());
    } else if (spec_.kind == Pooling::kPNorm) {
      (spec_.p == 2   ? kernels::norm_pool_gradient<2>
       : spec_.p == 1 ? kernels::norm_pool_gradient<1>
                      : kernels::norm_pool_gradient<0>)(spec_, batch,
                                                        dx.as<float>(),
                                                        dy.as<float>(),
                                                        y_.data(), x_.data());
    } else {
      kernels::max_pool_gradient(spec_, batch, dx.as<float>(), chosen_.data(),
                                 dy.as<float>());
    }
  }

 private:
  void norm(std::int64_t batch, const View& y, const View& x, bool training) {
    (spec_.p == 2 ? kernels::norm_pool<2>
     : spec_.p == 1
         ? kernels::norm_pool<1>
         : kernels::norm_pool<0>)(spec_, batch, y.as<float>(), x.as<float>());
    if (!training) return;
    std::copy_n(y.as<float>(), y.elements(), y_.begin());
    std::copy_n(x.as<float>(), x.elements(), x_.begin());
  }

  Spec given_;
  Pool3dSpec spec_;
  std::int64_t max_batch_;
  // By the last forward() for training: its batch, and the place of each
  // maximum or what a norm was taken of.
  std::int64_t trained_ = 0;
  std::vector<std::int32_t> chosen_;
  std::vector<float> x_, y_;
};

}  // namespace

std::unique_ptr<Pool2d> CpuDevice::pool2d(const Pool2dSpec& spec,
                                          std::int64_t max_batch) {
  return std::make_unique<CpuPool<Pool2dSpec>>(spec, max_batch);
}

std::unique_ptr<Pool3d> CpuDevice::pool3d(const Pool3dSpec& spec,
                                          std::int64_t max_batch) {
  return std::make_unique<CpuPool<Pool3dSpec>>(spec, max_batch);
}

}  // namespace dl::device
