// Pooling.  A thread computes some channels of a pixel of y, or of one of dx
// out of the windows that it lies in, or of all of dx that one window has to
// itself: nothing is added to by two.

#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/conv/pool_windows.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/grid.h"
#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::Shape;
using tensor::View;

namespace {

// Where in its window each maximum is: a byte each, where a window has no more
// places than that.
class BestPlaces {
 public:
  BestPlaces() = default;
  BestPlaces(const tensor::Buffer& buffer, bool bytes)
      : data_(buffer.view().data), bytes_(bytes) {}
  DL_DEVICE bool empty() const { return data_ == nullptr; }
  template <int N>
  DL_DEVICE Pack<int, N> pack(std::int64_t i) const {
    if (!bytes_) return *reinterpret_cast<const Pack<int, N>*>(data_ + 4 * i);
    const auto bytes =
        *reinterpret_cast<const Pack<std::uint8_t, N>*>(data_ + i);
    Pack<int, N> places;
    for (int k = 0; k < N; ++k) places.at[k] = bytes.at[k];
    return places;
  }
  template <int N>
  DL_DEVICE void set_pack(std::int64_t i, const Pack<int, N>& places) const {
    if (!bytes_) {
      *reinterpret_cast<Pack<int, N>*>(data_ + 4 * i) = places;
      return;
    }
    Pack<std::uint8_t, N> bytes;
    for (int k = 0; k < N; ++k)
      bytes.at[k] = static_cast<std::uint8_t>(places.at[k]);
    *reinterpret_cast<Pack<std::uint8_t, N>*>(data_ + i) = bytes;
  }

 private:
  std::byte* data_ = nullptr;
  bool bytes_ = false;
};

// `chosen` takes the place of each maximum, unless it is empty: the first of
// equals; a NaN before any number.
template <int N>
struct Maximum {
  PoolWindows windows;
  Reals y, x;
  BestPlaces chosen;
  DL_DEVICE void operator()(std::int64_t i) const {
    const Spot spot = windows.output<N>(i);
    Pack<float, N> best{};
    Pack<int, N> taps;
    for (int k = 0; k < N; ++k) taps.at[k] = -1;
    windows.of_output(spot, [&](std::int64_t from, int tap) {
      const Pack<float, N> value = x.pack<N>(from);
      for (int k = 0; k < N; ++k)
        if (taps.at[k] < 0 ||
            (!(value.at[k] <= best.at[k]) && best.at[k] == best.at[k])) {
          best.at[k] = value.at[k];
          taps.at[k] = tap;
        }
    });
    const std::int64_t to = i * N;
    y.set_pack(to, best);
    if (!chosen.empty()) chosen.set_pack(to, taps);
  }
};

// Contribution of an output, described by of(), to the gradient of each input:
// add(place in x, tap).
template <int N>
struct MaximumSlope {
  Reals dy;
  BestPlaces chosen;
  struct Of {
    Pack<float, N> up;
    Pack<int, N> chosen;
    DL_DEVICE Pack<float, N> operator()(std::int64_t, int tap) const {
      Pack<float, N> slope;
      for (int k = 0; k < N; ++k)
        slope.at[k] = chosen.at[k] == tap ? up.at[k] : 0;
      return slope;
    }
  };
  DL_DEVICE Of of(std::int64_t y, int) const {
    return {dy.pack<N>(y), chosen.pack<N>(y)};
  }
};

template <int N>
struct Average {
  PoolWindows windows;
  Reals y, x;
  int whole;  // what every window counts, or 0
  DL_DEVICE void operator()(std::int64_t i) const {
    const Spot spot = windows.output<N>(i);
    Pack<double, N> sum{};
    windows.of_output(spot, [&](std::int64_t from, int) {
      const Pack<float, N> value = x.pack<N>(from);
      for (int k = 0; k < N; ++k) sum.at[k] += value.at[k];
    });
    const int count = whole > 0 ? whole : windows.count(spot);
    Pack<float, N> mean;
    for (int k = 0; k < N; ++k)
      mean.at[k] = static_cast<float>(sum.at[k] / count);
    y.set_pack(i * N, mean);
  }
};

template <int N>
struct AverageSlope {
  Reals dy;
  int whole;
  struct Of {
    Pack<float, N> share;
    DL_DEVICE Pack<float, N> operator()(std::int64_t, int) const {
      return share;
    }
  };
  DL_DEVICE Of of(std::int64_t y, int count) const {
    Of of{dy.pack<N>(y)};
    for (float& share : of.share.at)
      share = share / static_cast<float>(whole > 0 ? whole : count);
    return of;
  }
};

// x^p for x >= 0; p of 1 and 2 are what is used.
DL_DEVICE inline float power(float x, float p) {
  return p == 2 ? x * x : p == 1 ? x : std::pow(x, p);
}

template <int N>
struct Norm {
  PoolWindows windows;
  Reals y, x;
  Reals kept;  // y as it was before it was rounded, unless it is empty
  float p;
  DL_DEVICE void operator()(std::int64_t i) const {
    const Spot spot = windows.output<N>(i);
    Pack<double, N> sum{};
    windows.of_output(spot, [&](std::int64_t from, int) {
      const Pack<float, N> value = x.pack<N>(from);
      for (int k = 0; k < N; ++k) sum.at[k] += power(std::fabs(value.at[k]), p);
    });
    Pack<float, N> norm;
    for (int k = 0; k < N; ++k) {
      const auto all = static_cast<float>(sum.at[k]);
      norm.at[k] = p == 2   ? std::sqrt(all)
                   : p == 1 ? all
                            : std::pow(all, 1 / p);
    }
    const std::int64_t to = i * N;
    y.set_pack(to, norm);
    if (!kept.empty()) kept.set_pack(to, norm);
  }
};

// dy sign(x) (|x| / y)^(p - 1); 0 where all are 0.
template <int N>
struct NormSlope {
  Reals dy, y, x;
  float p;
  struct Of {
    Pack<float, N> up, norm;
    Reals x;
    float p;
    DL_DEVICE Pack<float, N> operator()(std::int64_t from, int) const {
      const Pack<float, N> value = x.pack<N>(from);
      Pack<float, N> slope;
      for (int k = 0; k < N; ++k)
        slope.at[k] = up.at[k] * of(value.at[k], norm.at[k]);
      return slope;
    }
    DL_DEVICE float of(float value, float all) const {
      if (value == 0 || all == 0) return 0;
      const float share = std::fabs(value) / all;
      const float slope = p == 2   ? share
                          : p == 1 ? 1.0F
                                   : std::pow(share, p - 1);
      return std::copysign(slope, value);
    }
  };
  DL_DEVICE Of of(std::int64_t at, int) const {
    return {dy.pack<N>(at), y.pack<N>(at), x, p};
  }
};

// Gradient for overlapping windows: an input takes from all that have it.
template <int N, class Slope>
struct Gather {
  PoolWindows windows;
  Reals dx;
  Slope slope;
  DL_DEVICE void operator()(std::int64_t i) const {
    Pack<double, N> sum{};
    windows.of_input(windows.input<N>(i),
                     [&](std::int64_t y, int count, std::int64_t x, int tap) {
                       const Pack<float, N> more = slope.of(y, count)(x, tap);
                       for (int k = 0; k < N; ++k) sum.at[k] += more.at[k];
                     });
    Pack<float, N> all;
    for (int k = 0; k < N; ++k) all.at[k] = static_cast<float>(sum.at[k]);
    dx.set_pack(i * N, all);
  }
};

// Gradient for other windows: an output gives to all of its share.
template <int N, class Slope>
struct Spread {
  PoolWindows windows;
  Reals dx;
  Slope slope;
  DL_DEVICE void operator()(std::int64_t i) const {
    const Spot spot = windows.output<N>(i);
    const auto of = slope.of(i * N, windows.count(spot));
    windows.of_share(spot, [&](std::int64_t x, int tap, bool inside) {
      Pack<float, N> all{};
      if (inside) {
        const Pack<float, N> more = of(x, tap);
        for (int k = 0; k < N; ++k) all.at[k] += more.at[k];
      }
      dx.set_pack(x, all);
    });
  }
};

int pool_narrow(std::int64_t extent) {
  require(extent <= std::numeric_limits<int>::max() / 2,
          "pooling of images too large");
  return static_cast<int>(extent);
}

PoolWindows windows_of(const Pool3dSpec& s) {
  const auto axis = [&](int k, std::int64_t in, std::int64_t out) {
    return PoolAxis{pool_narrow(in), pool_narrow(out), pool_narrow(s.kernel[k]),
                    pool_narrow(s.stride[k]), pool_narrow(s.pad_begin[k])};
  };
  return {axis(0, s.depth, s.out_depth()), axis(1, s.height, s.out_height()),
          axis(2, s.width, s.out_width()), s.channels};
}

constexpr int kPack = 4;                  // channels of a thread
constexpr std::int64_t kByte = 256;       // different numbers
constexpr std::int64_t kMostSpread = 64;  // more is too much for a thread

template <typename Spec>
class CudaPool final : public Pool2d {
 public:
  CudaPool(CudaDevice& device, const Spec& spec, std::int64_t max_batch)
      : stream_(device.stream()), given_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const Pool3dSpec s = volume_of(spec);
    windows_ = windows_of(s);
    if (s.kind == Pooling::kAverage && s.count_padding)
      whole_ = pool_narrow(s.kernel[0] * s.kernel[1] * s.kernel[2]);
    p_ = static_cast<float>(s.p);
    const Shape outputs{max_batch * s.out_depth() * s.out_height() *
                        s.out_width() * s.channels};
    bytes_ = s.kernel[0] * s.kernel[1] * s.kernel[2] <= kByte;
    spreads_ = s.stride[0] >= s.kernel[0] && s.stride[1] >= s.kernel[1] &&
               s.stride[2] >= s.kernel[2] &&
               s.stride[0] * s.stride[1] * s.stride[2] <= kMostSpread;
    if (s.kind == Pooling::kMax)
      chosen_ = device.allocate(
          bytes_ ? Shape{(outputs.elements() + 3) / 4} : outputs, DType::kI32);
    if (s.kind != Pooling::kPNorm) return;
    x_ = device.allocate(
        Shape{max_batch * s.depth * s.height * s.width * s.channels});
    y_ = device.allocate(outputs);
  }

  void forward(View y, View x, bool training) override {
    check_reals({x, y});
    const std::int64_t batch = check_images(given_, max_batch_, x, y);
    if (training) trained_ = batch;
    const Reals to(y), from(x);
    in_packs({to, from}, [&]<int N>(std::integral_constant<int, N>) {
      const std::int64_t n = y.elements() / N;
      if (given_.kind == Pooling::kMax)
        each(
            stream_, n,
            Maximum<N>{windows_, to, from, training ? places() : BestPlaces()});
      else if (given_.kind == Pooling::kAverage)
        each(stream_, n, Average<N>{windows_, to, from, whole_});
      else
        each(stream_, n,
             Norm<N>{windows_, to, from, training ? Reals(y_->view()) : Reals(),
                     p_});
    });
    if (training && given_.kind == Pooling::kPNorm) {
      const Reals kept(x_->view());
      each(stream_, x.elements(),
           [=] DL_DEVICE(std::int64_t i) { kept.set(i, from[i]); });
    }
  }

  void backward(View dx, View dy) override {
    check_reals({dx, dy});
    const std::int64_t batch = check_images(given_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    const Reals to(dx), from(dy);
    in_packs({to, from}, [&]<int N>(std::integral_constant<int, N>) {
      if (given_.kind == Pooling::kMax)
        gradient<N>(dx, dy, MaximumSlope<N>{from, places()});
      else if (given_.kind == Pooling::kAverage)
        gradient<N>(dx, dy, AverageSlope<N>{from, whole_});
      else
        gradient<N>(
            dx, dy,
            NormSlope<N>{from, Reals(y_->view()), Reals(x_->view()), p_});
    });
  }

 private:
  // f(integral_constant<channels of a thread>)
  template <class F>
  void in_packs(std::initializer_list<Reals> all, const F& f) const {
    bool can = given_.channels % kPack == 0;
    for (const Reals& reals : all) can = can && reals.in_packs(kPack);
    if (can)
      f(std::integral_constant<int, kPack>());
    else
      f(std::integral_constant<int, 1>());
  }
  template <int N, class Slope>
  void gradient(const View& dx, const View& dy, const Slope& slope) {
    if (spreads_)
      each(stream_, dy.elements() / N,
           Spread<N, Slope>{windows_, Reals(dx), slope});
    else
      each(stream_, dx.elements() / N,
           Gather<N, Slope>{windows_, Reals(dx), slope});
  }
  BestPlaces places() const { return {*chosen_, bytes_}; }

  Stream& stream_;
  Spec given_;
  std::int64_t max_batch_;
  PoolWindows windows_{};
  bool bytes_ = false, spreads_ = false;
  int whole_ = 0;
  float p_ = 0;
  // State of the last forward() for training: its batch, and each maximum's
  // place or what a norm was taken of.
  std::int64_t trained_ = 0;
  std::unique_ptr<tensor::Buffer> chosen_, x_, y_;
};

}  // namespace

std::unique_ptr<Pool2d> CudaDevice::pool2d(const Pool2dSpec& spec,
                                           std::int64_t max_batch) {
  return std::make_unique<CudaPool<Pool2dSpec>>(*this, spec, max_batch);
}

std::unique_ptr<Pool3d> CudaDevice::pool3d(const Pool3dSpec& spec,
                                           std::int64_t max_batch) {
  return std::make_unique<CudaPool<Pool3dSpec>>(*this, spec, max_batch);
}

}  // namespace dl::device::cuda
