// Pooling.  A thread computes an element of y, or one of dx out of the windows
// that it lies in: nothing is added to by two.

#include <cmath>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/grid.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::Pool3dSpec;
using tensor::Pooling;
using tensor::Shape;
using tensor::View;

namespace {

// Places along one axis.
struct Span {
  int begin, end;
};

struct Axis {
  int in, out, kernel, stride, padding;

  // Inputs that an output's window has inside the image.
  DL_DEVICE Span inputs(int o) const {
    const int start = o * stride - padding;
    const int end = start + kernel;
    return {start < 0 ? 0 : start, end < in ? end : in};
  }
  // Outputs whose window has this input.
  DL_DEVICE Span outputs(int i) const {
    const int last = (i + padding) / stride + 1;
    const int before = i + padding - kernel;  // window that ends just before it
    return {before < 0 ? 0 : before / stride + 1, last < out ? last : out};
  }
  // Where in the window.
  DL_DEVICE int tap(int i, int o) const { return i - o * stride + padding; }
};

// One element of y and one of x in its window.
struct Pair {
  std::int64_t y, x;
  int tap;    // of the window's places
  int count;  // of those inside the image
};

struct Windows {
  Axis d, h, w;
  std::int64_t channels;

  DL_DEVICE Pair pair(std::int64_t n, int od, int oh, int ow, int id, int ih,
                      int iw, std::int64_t c) const {
    const Span sd = d.inputs(od), sh = h.inputs(oh), sw = w.inputs(ow);
    return {
        (((n * d.out + od) * h.out + oh) * w.out + ow) * channels + c,
        (((n * d.in + id) * h.in + ih) * w.in + iw) * channels + c,
        (d.tap(id, od) * h.kernel + h.tap(ih, oh)) * w.kernel + w.tap(iw, ow),
        (sd.end - sd.begin) * (sh.end - sh.begin) * (sw.end - sw.begin)};
  }

  // Calls f(pair) for those of an element of y, in the order of x.
  template <class F>
  DL_DEVICE void of_output(std::int64_t y, const F& f) const {
    const std::int64_t c = y % channels;
    std::int64_t n = y / channels;
    const int ow = static_cast<int>(n % w.out);
    n /= w.out;
    const int oh = static_cast<int>(n % h.out);
    n /= h.out;
    const int od = static_cast<int>(n % d.out);
    n /= d.out;
    const Span sd = d.inputs(od), sh = h.inputs(oh), sw = w.inputs(ow);
    for (int i = sd.begin; i < sd.end; ++i)
      for (int j = sh.begin; j < sh.end; ++j)
        for (int k = sw.begin; k < sw.end; ++k)
          f(pair(n, od, oh, ow, i, j, k, c));
  }

  // The same for those of an element of x, in the order of y.
  template <class F>
  DL_DEVICE void of_input(std::int64_t x, const F& f) const {
    const std::int64_t c = x % channels;
    std::int64_t n = x / channels;
    const int iw = static_cast<int>(n % w.in);
    n /= w.in;
    const int ih = static_cast<int>(n % h.in);
    n /= h.in;
    const int id = static_cast<int>(n % d.in);
    n /= d.in;
    const Span sd = d.outputs(id), sh = h.outputs(ih), sw = w.outputs(iw);
    for (int i = sd.begin; i < sd.end; ++i)
      for (int j = sh.begin; j < sh.end; ++j)
        for (int k = sw.begin; k < sw.end; ++k)
          f(pair(n, i, j, k, id, ih, iw, c));
  }
};

// `chosen` takes the place of each maximum, unless it is null: the first of
// equals; a NaN before any number.
struct Maximum {
  Windows windows;
  float* y;
  const float* x;
  std::int32_t* chosen;
  DL_DEVICE void operator()(std::int64_t i) const {
    float best = 0;
    int tap = -1;
    windows.of_output(i, [&](const Pair& p) {
      const float value = x[p.x];
      if (tap < 0 || (!(value <= best) && best == best)) {
        best = value;
        tap = p.tap;
      }
    });
    y[i] = best;
    if (chosen != nullptr) chosen[i] = tap;
  }
};

struct MaximumSlope {
  const float* dy;
  const std::int32_t* chosen;
  DL_DEVICE float operator()(const Pair& p) const {
    return chosen[p.y] == p.tap ? dy[p.y] : 0;
  }
};

struct Average {
  Windows windows;
  float* y;
  const float* x;
  int whole;  // what every window counts, or 0
  DL_DEVICE void operator()(std::int64_t i) const {
    double sum = 0;
    int count = whole;
    windows.of_output(i, [&](const Pair& p) {
      sum += x[p.x];
      if (whole == 0) count = p.count;
    });
    y[i] = static_cast<float>(sum / count);
  }
};

struct AverageSlope {
  const float* dy;
  int whole;
  DL_DEVICE float operator()(const Pair& p) const {
    return dy[p.y] / static_cast<float>(whole > 0 ? whole : p.count);
  }
};

// x^p for x >= 0; p of 1 and 2 are what is used.
DL_DEVICE inline float power(float x, float p) {
  return p == 2 ? x * x : p == 1 ? x : std::pow(x, p);
}

struct Norm {
  Windows windows;
  float* y;
  const float* x;
  float p;
  DL_DEVICE void operator()(std::int64_t i) const {
    double sum = 0;
    windows.of_output(
        i, [&](const Pair& at) { sum += power(std::fabs(x[at.x]), p); });
    const auto all = static_cast<float>(sum);
    y[i] = p == 2 ? std::sqrt(all) : p == 1 ? all : std::pow(all, 1 / p);
  }
};

// dy sign(x) (|x| / y)^(p - 1); 0 where all are 0.
struct NormSlope {
  const float *dy, *y, *x;
  float p;
  DL_DEVICE float operator()(const Pair& at) const {
    const float value = x[at.x], norm = y[at.y];
    if (value == 0 || norm == 0) return 0;
    const float share = std::fabs(value) / norm;
    const float slope = p == 2 ? share : p == 1 ? 1.0F : std::pow(share, p - 1);
    return dy[at.y] * std::copysign(slope, value);
  }
};

template <class Slope>
struct Gradient {
  Windows windows;
  float* dx;
  Slope slope;
  DL_DEVICE void operator()(std::int64_t i) const {
    double sum = 0;
    windows.of_input(i, [&](const Pair& p) { sum += slope(p); });
    dx[i] = static_cast<float>(sum);
  }
};

template <class Slope>
void gradient(Stream& stream, const Windows& windows, const View& dx,
              const Slope& slope) {
  each(stream, dx.elements(), Gradient<Slope>{windows, dx.as<float>(), slope});
}

int narrow(std::int64_t extent) {
  require(extent <= std::numeric_limits<int>::max() / 2,
          "pooling of images too large");
  return static_cast<int>(extent);
}

Windows windows_of(const Pool3dSpec& s) {
  const auto axis = [&](int k, std::int64_t in, std::int64_t out) {
    return Axis{narrow(in), narrow(out), narrow(s.kernel[k]),
                narrow(s.stride[k]), narrow(s.pad_begin[k])};
  };
  return {axis(0, s.depth, s.out_depth()), axis(1, s.height, s.out_height()),
          axis(2, s.width, s.out_width()), s.channels};
}

// The spec of volumes, which that of images is one of.
const Pool3dSpec& volume_of(const Pool3dSpec& spec) { return spec; }
using tensor::volume_of;

template <typename Spec>
class CudaPool final : public tensor::Pool2d {
 public:
  CudaPool(CudaDevice& device, const Spec& spec, std::int64_t max_batch)
      : stream_(device.stream()), given_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const Pool3dSpec s = volume_of(spec);
    windows_ = windows_of(s);
    if (s.kind == Pooling::kAverage && s.count_padding)
      whole_ = narrow(s.kernel[0] * s.kernel[1] * s.kernel[2]);
    p_ = static_cast<float>(s.p);
    const Shape outputs{max_batch * s.out_depth() * s.out_height() *
                        s.out_width() * s.channels};
    if (s.kind == Pooling::kMax)
      chosen_ = device.allocate(outputs, DType::kI32);
    if (s.kind != Pooling::kPNorm) return;
    x_ = device.allocate(
        Shape{max_batch * s.depth * s.height * s.width * s.channels});
    y_ = device.allocate(outputs);
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF32, {x, y});
    const std::int64_t batch = check_images(given_, max_batch_, x, y);
    if (training) trained_ = batch;
    float* const to = y.as<float>();
    const float* const from = x.as<float>();
    const std::int64_t n = y.elements();
    if (given_.kind == Pooling::kMax) {
      each(stream_, n,
           Maximum{windows_, to, from, training ? chosen() : nullptr});
    } else if (given_.kind == Pooling::kAverage) {
      each(stream_, n, Average{windows_, to, from, whole_});
    } else {
      each(stream_, n, Norm{windows_, to, from, p_});
      if (!training) return;
      keep(*x_, x);
      keep(*y_, y);
    }
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF32, {dx, dy});
    const std::int64_t batch = check_images(given_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    const float* const from = dy.as<float>();
    if (given_.kind == Pooling::kMax)
      gradient(stream_, windows_, dx, MaximumSlope{from, chosen()});
    else if (given_.kind == Pooling::kAverage)
      gradient(stream_, windows_, dx, AverageSlope{from, whole_});
    else
      gradient(stream_, windows_, dx,
               NormSlope{from, y_->view().template as<float>(),
                         x_->view().template as<float>(), p_});
  }

 private:
  std::int32_t* chosen() const {
    return chosen_->view().template as<std::int32_t>();
  }
  void keep(const tensor::Buffer& to, const View& from) {
    stream_.copy(to.view().data, from.data,
                 static_cast<std::size_t>(from.elements()) * sizeof(float),
                 cudaMemcpyDeviceToDevice);
  }

  Stream& stream_;
  Spec given_;
  std::int64_t max_batch_;
  Windows windows_{};
  int whole_ = 0;
  float p_ = 0;
  // Of the last forward() for training: its batch, and each maximum's place or
  // what a norm was taken of.
  std::int64_t trained_ = 0;
  std::unique_ptr<tensor::Buffer> chosen_, x_, y_;
};

}  // namespace

std::unique_ptr<tensor::Pool2d> CudaDevice::pool2d(
    const tensor::Pool2dSpec& spec, std::int64_t max_batch) {
  return std::make_unique<CudaPool<tensor::Pool2dSpec>>(*this, spec, max_batch);
}

std::unique_ptr<tensor::Pool3d> CudaDevice::pool3d(const Pool3dSpec& spec,
                                                   std::int64_t max_batch) {
  return std::make_unique<CudaPool<Pool3dSpec>>(*this, spec, max_batch);
}

}  // namespace dl::device::cuda
