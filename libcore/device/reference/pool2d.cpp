// Pooling: each output pixel looks at a window of one channel.

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::View;

template <typename Spec>
class ReferencePool final : public Pool2d {
 public:
  ReferencePool(const Spec& spec, std::int64_t max_batch)
      : given_(spec), spec_(volume_of(spec)), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    const auto outputs = static_cast<std::size_t>(
        max_batch * spec_.out_depth() * spec_.out_height() * spec_.out_width() *
        spec_.channels);
    const auto inputs = static_cast<std::size_t>(
        max_batch * spec_.depth * spec_.height * spec_.width * spec_.channels);
    if (spec_.kind == Pooling::kMax) chosen_.resize(outputs);
    if (spec_.kind != Pooling::kPNorm) return;
    x_.resize(inputs);
    y_.resize(outputs);
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF64, {x, y});
    const std::int64_t batch = check_images(given_, max_batch_, x, y);
    if (training) trained_ = batch;
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      double& to = y.as<double>()[i];
      if (spec_.kind == Pooling::kAverage) {
        to = sum(i, [&](auto at) { return x.as<double>()[at]; }) / share_of(i);
      } else if (spec_.kind == Pooling::kPNorm) {
        to = std::pow(sum(i,
                          [&](auto at) {
                            return std::pow(std::abs(x.as<double>()[at]),
                                            spec_.p);
                          }),
                      1 / spec_.p);
      } else {
        const std::int64_t at = largest(x, i);
        to = x.as<double>()[at];
        if (training) chosen_[static_cast<std::size_t>(i)] = at;
      }
    }
    if (!training || spec_.kind != Pooling::kPNorm) return;
    std::copy_n(x.as<double>(), x.elements(), x_.begin());
    std::copy_n(y.as<double>(), y.elements(), y_.begin());
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF64, {dx, dy});
    const std::int64_t batch = check_images(given_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    std::fill_n(dx.as<double>(), dx.elements(), 0.0);
    for (std::int64_t i = 0; i < dy.elements(); ++i) {
      const double slope = dy.as<double>()[i];
      if (spec_.kind == Pooling::kMax)
        dx.as<double>()[chosen_[static_cast<std::size_t>(i)]] += slope;
      else
        for_each_in_window(i, [&](auto at) {
          dx.as<double>()[at] +=
              slope * (spec_.kind == Pooling::kAverage ? 1 / share_of(i)
                                                       : norm_slope(i, at));
        });
    }
  }

 private:
  // Calls f with each input element that output element i looks at.
  template <typename F>
  void for_each_in_window(std::int64_t i, F f) const {
    const std::int64_t in[] = {spec_.depth, spec_.height, spec_.width};
    const std::int64_t out[] = {spec_.out_depth(), spec_.out_height(),
                                spec_.out_width()};
    const std::int64_t pixel = i / spec_.channels;
    const std::int64_t at[] = {pixel / out[2] / out[1] % out[0],
                               pixel / out[2] % out[1], pixel % out[2]};
    for (std::int64_t w = 0; w < window_size(); ++w) {
      const std::int64_t tap[] = {w / spec_.kernel[2] / spec_.kernel[1],
                                  w / spec_.kernel[2] % spec_.kernel[1],
                                  w % spec_.kernel[2]};
      std::int64_t x = pixel / out[2] / out[1] / out[0];
      bool inside = true;
      for (int k = 0; k < 3; ++k) {
        const std::int64_t place =
            at[k] * spec_.stride[k] + tap[k] - spec_.pad_begin[k];
        inside = inside && 0 <= place && place < in[k];
        x = x * in[k] + place;
      }
      if (inside) f(x * spec_.channels + i % spec_.channels);
    }
  }

  std::int64_t window_size() const {
    return spec_.kernel[0] * spec_.kernel[1] * spec_.kernel[2];
  }

  template <typename F>
  double sum(std::int64_t i, F term) const {
    double total = 0;
    for_each_in_window(i, [&](auto at) { total += term(at); });
    return total;
  }

  // Divisor of an average.
  double share_of(std::int64_t i) const {
    return spec_.count_padding ? static_cast<double>(window_size())
                               : sum(i, [](auto) { return 1.0; });
  }

  // dy_i / dx_at = sign(x) (|x| / y)^(p - 1); 0 where all are 0.
  double norm_slope(std::int64_t i, std::int64_t at) const {
    const double x = x_[static_cast<std::size_t>(at)];
    const double y = y_[static_cast<std::size_t>(i)];
    if (y == 0 || x == 0) return 0;
    return std::copysign(std::pow(std::abs(x) / y, spec_.p - 1), x);
  }

  // The first of equals; a NaN before any number.
  std::int64_t largest(const View& x, std::int64_t i) const {
    std::int64_t best = -1;
    for_each_in_window(i, [&](auto at) {
      const double value = x.as<double>()[at];
      if (best < 0 || value > x.as<double>()[best] ||
          (std::isnan(value) && !std::isnan(x.as<double>()[best])))
        best = at;
    });
    return best;
  }

  Spec given_;
  Pool3dSpec spec_;
  std::int64_t max_batch_;
  // State of the last forward() for training: its batch, and each maximum's
  // place or what a norm was taken of.
  std::int64_t trained_ = 0;
  std::vector<std::int64_t> chosen_;
  std::vector<double> x_, y_;
};

}  // namespace

std::unique_ptr<Pool2d> ReferenceDevice::pool2d(const Pool2dSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<ReferencePool<Pool2dSpec>>(spec, max_batch);
}

std::unique_ptr<Pool3d> ReferenceDevice::pool3d(const Pool3dSpec& spec,
                                                std::int64_t max_batch) {
  return std::make_unique<ReferencePool<Pool3dSpec>>(spec, max_batch);
}

}  // namespace dl::device
