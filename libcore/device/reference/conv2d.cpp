// Convolution as its definition: a sum over the taps of the kernel.

#include <algorithm>

#include "libcore/device/check.h"
#include "libcore/device/conv2d_then_max_pool.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {
using tensor::DType;
using tensor::View;

// Calls f(x, y, w) for each pair of an output pixel and a tap that lies inside
// the input: x is the input pixel, y the output pixel, w the tap, each counted
// from the start of its array.
template <typename F>
void for_each_tap(const Conv3dSpec& s, std::int64_t batch, F f) {
  const std::int64_t in[] = {s.depth, s.height, s.width};
  const std::int64_t out[] = {s.out_depth(), s.out_height(), s.out_width()};
  const std::int64_t taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  for (std::int64_t y = 0; y < batch * out[0] * out[1] * out[2]; ++y) {
    const std::int64_t at[] = {y / out[2] / out[1] % out[0],
                               y / out[2] % out[1], y % out[2]};
    for (std::int64_t w = 0; w < taps; ++w) {
      const std::int64_t tap[] = {w / s.kernel[2] / s.kernel[1],
                                  w / s.kernel[2] % s.kernel[1],
                                  w % s.kernel[2]};
      std::int64_t x = y / out[2] / out[1] / out[0];
      bool inside = true;
      for (int k = 0; k < 3; ++k) {
        const std::int64_t place =
            at[k] * s.stride[k] + tap[k] * s.dilation[k] - s.pad_begin[k];
        inside = inside && 0 <= place && place < in[k];
        x = x * in[k] + place;
      }
      if (inside) f(x, y, w);
    }
  }
}

template <typename Spec>
class ReferenceConv final : public Conv2d {
 public:
  ReferenceConv(const Spec& spec, std::int64_t max_batch)
      : given_(spec), spec_(volume_of(spec)), max_batch_(max_batch) {
    check_spec(spec, max_batch);
  }

  void forward(View y, View x, View w, View b) override {
    const std::int64_t batch = check(x, y, w, b);
    double* out = y.as<double>();
    for (std::int64_t i = 0; i < y.elements(); ++i)
      out[i] = b.empty() ? 0.0 : b.as<double>()[i % spec_.filters];
    for_each_term(batch, [&](auto in, auto to, auto at) {
      out[to] += x.as<double>()[in] * w.as<double>()[at];
    });
  }

  void backward_data(View dx, View dy, View w) override {
    const std::int64_t batch = check(dx, dy, w, {});
    std::fill_n(dx.as<double>(), dx.elements(), 0.0);
    for_each_term(batch, [&](auto in, auto to, auto at) {
      dx.as<double>()[in] += dy.as<double>()[to] * w.as<double>()[at];
    });
  }

  void backward_weights(View dw, View db, View x, View dy) override {
    const std::int64_t batch = check(x, dy, dw, db);
    std::fill_n(dw.as<double>(), dw.elements(), 0.0);
    for_each_term(batch, [&](auto in, auto to, auto at) {
      dw.as<double>()[at] += x.as<double>()[in] * dy.as<double>()[to];
    });
    if (db.empty()) return;
    std::fill_n(db.as<double>(), db.elements(), 0.0);
    for (std::int64_t i = 0; i < dy.elements(); ++i)
      db.as<double>()[i % spec_.filters] += dy.as<double>()[i];
  }

 private:
  // Calls f(x, y, w) with the elements of each term x w of a sum y.
  template <typename F>
  void for_each_term(std::int64_t batch, F f) const {
    const std::int64_t taps =
        spec_.kernel[0] * spec_.kernel[1] * spec_.kernel[2];
    const std::int64_t in_group = spec_.channels / spec_.groups;
    const std::int64_t out_group = spec_.filters / spec_.groups;
    for_each_tap(spec_, batch, [&](auto x, auto y, auto tap) {
      for (std::int64_t k = 0; k < spec_.filters; ++k)
        for (std::int64_t c = 0; c < in_group; ++c)
          f(x * spec_.channels + k / out_group * in_group + c,
            y * spec_.filters + k, (k * taps + tap) * in_group + c);
    });
  }

  std::int64_t check(const View& x, const View& y, const View& w,
                     const View& b) const {
    check_reals(DType::kF64, {x, y});
    check_weights(DType::kF64, given_, w, b);
    return check_images(given_, max_batch_, x, y);
  }

  Spec given_;
  Conv3dSpec spec_;
  std::int64_t max_batch_;
};

}  // namespace

std::unique_ptr<Conv2d> ReferenceDevice::conv2d(const Conv2dSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<ReferenceConv<Conv2dSpec>>(spec, max_batch);
}

std::unique_ptr<Conv3d> ReferenceDevice::conv3d(const Conv3dSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<ReferenceConv<Conv3dSpec>>(spec, max_batch);
}

std::unique_ptr<Conv2d> ReferenceDevice::conv2d_max_pool(
    const Conv2dSpec& spec, std::int64_t max_batch) {
  return conv2d_then_max_pool(*this, spec, max_batch);
}

}  // namespace dl::device
