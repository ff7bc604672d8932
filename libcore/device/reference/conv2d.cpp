// Convolution as its definition: a sum over the taps of the kernel.

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::Conv2dSpec;
using tensor::DType;
using tensor::View;

// Calls f(x, y, w) for each pair of an output pixel and a tap that lies inside
// the input: x is the input pixel, y the output pixel, w the tap, each counted
// from the start of its array.
template <typename F>
void for_each_tap(const Conv2dSpec& s, std::int64_t batch, F f) {
  const std::int64_t out_height = s.out_height(), out_width = s.out_width();
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t oh = 0; oh < out_height; ++oh)
      for (std::int64_t ow = 0; ow < out_width; ++ow)
        for (std::int64_t kh = 0; kh < s.kernel[0]; ++kh)
          for (std::int64_t kw = 0; kw < s.kernel[1]; ++kw) {
            const std::int64_t ih =
                oh * s.stride[0] + kh * s.dilation[0] - s.pad_begin[0];
            const std::int64_t iw =
                ow * s.stride[1] + kw * s.dilation[1] - s.pad_begin[1];
            if (ih < 0 || ih >= s.height || iw < 0 || iw >= s.width) continue;
            f((n * s.height + ih) * s.width + iw,
              (n * out_height + oh) * out_width + ow, kh * s.kernel[1] + kw);
          }
}

class ReferenceConv2d final : public tensor::Conv2d {
 public:
  ReferenceConv2d(const Conv2dSpec& spec, std::int64_t max_batch)
      : spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
  }

  void forward(View y, View x, View w, View b) override {
    const std::int64_t batch = check(x, y, w, b);
    const std::int64_t filters = spec_.filters;
    double* out = y.as<double>();
    for (std::int64_t i = 0; i < y.elements(); ++i)
      out[i] = b.empty() ? 0.0 : b.as<double>()[i % filters];
    for_each_tap(spec_, batch, [&](auto in, auto pixel, auto tap) {
      for (std::int64_t f = 0; f < filters; ++f)
        for (std::int64_t c = 0; c < spec_.channels; ++c)
          out[pixel * filters + f] +=
              x.as<double>()[in * spec_.channels + c] * weight(w, f, tap, c);
    });
  }

  void backward_data(View dx, View dy, View w) override {
    const std::int64_t batch = check(dx, dy, w, {});
    std::fill_n(dx.as<double>(), dx.elements(), 0.0);
    for_each_tap(spec_, batch, [&](auto in, auto pixel, auto tap) {
      for (std::int64_t f = 0; f < spec_.filters; ++f)
        for (std::int64_t c = 0; c < spec_.channels; ++c)
          dx.as<double>()[in * spec_.channels + c] +=
              dy.as<double>()[pixel * spec_.filters + f] * weight(w, f, tap, c);
    });
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const std::int64_t batch = check(x, dy, dw, db);
    std::fill_n(dw.as<double>(), dw.elements(), 0.0);
    for_each_tap(spec_, batch, [&](auto in, auto pixel, auto tap) {
      for (std::int64_t f = 0; f < spec_.filters; ++f)
        for (std::int64_t c = 0; c < spec_.channels; ++c)
          weight(dw, f, tap, c) += x.as<double>()[in * spec_.channels + c] *
                                   dy.as<double>()[pixel * spec_.filters + f];
    });
    if (db.empty()) return;
    std::fill_n(db.as<double>(), db.elements(), 0.0);
    for (std::int64_t i = 0; i < dy.elements(); ++i)
      db.as<double>()[i % spec_.filters] += dy.as<double>()[i];
  }

 private:
  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF64, {x, y});
    check_weights(DType::kF64, spec_, w, b);
    return check_images(spec_, max_batch_, x, y);
  }

  double& weight(const View& w, std::int64_t filter, std::int64_t tap,
                 std::int64_t channel) const {
    const std::int64_t taps = spec_.kernel[0] * spec_.kernel[1];
    return w.as<double>()[(filter * taps + tap) * spec_.channels + channel];
  }

  Conv2dSpec spec_;
  std::int64_t max_batch_;
};

}  // namespace

std::unique_ptr<tensor::Conv2d> ReferenceDevice::conv2d(
    const tensor::Conv2dSpec& spec, std::int64_t max_batch) {
  return std::make_unique<ReferenceConv2d>(spec, max_batch);
}

std::unique_ptr<tensor::Conv2d> ReferenceDevice::conv2d_max_pool(
    const tensor::Conv2dSpec& spec, std::int64_t max_batch) {
  return conv2d_then_max_pool(*this, spec, max_batch);
}

}  // namespace dl::device
