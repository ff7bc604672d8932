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
using tensor::Pool2dSpec;
using tensor::Pooling;
using tensor::View;

class ReferencePool2d final : public tensor::Pool2d {
 public:
  ReferencePool2d(const Pool2dSpec& spec, std::int64_t max_batch)
      : spec_(spec), max_batch_(max_batch) {
    check_spec(spec, max_batch);
    chosen_.reserve(static_cast<std::size_t>(max_batch * spec.out_height() *
                                             spec.out_width() * spec.channels));
  }

  void forward(View y, View x, bool training) override {
    check_reals(DType::kF64, {x, y});
    const std::int64_t batch = check_images(spec_, max_batch_, x, y);
    if (training) {
      trained_ = batch;
      chosen_.clear();
    }
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      if (spec_.kind == Pooling::kAverage) {
        y.as<double>()[i] = average(x, i);
      } else {
        const std::int64_t at = largest(x, i);
        y.as<double>()[i] = x.as<double>()[at];
        if (training) chosen_.push_back(at);
      }
    }
  }

  void backward(View dx, View dy) override {
    check_reals(DType::kF64, {dx, dy});
    const std::int64_t batch = check_images(spec_, max_batch_, dx, dy);
    require(batch == trained_, "pooling backward without its forward");
    std::fill_n(dx.as<double>(), dx.elements(), 0.0);
    if (spec_.kind == Pooling::kMax) {
      for (std::size_t i = 0; i < chosen_.size(); ++i)
        dx.as<double>()[chosen_[i]] += dy.as<double>()[i];
      return;
    }
    for (std::int64_t i = 0; i < dy.elements(); ++i) {
      const double share = dy.as<double>()[i] / window_size(i);
      for_each_in_window(i, [&](auto at) { dx.as<double>()[at] += share; });
    }
  }

 private:
  // Calls f with each input element that output element i looks at.
  template <typename F>
  void for_each_in_window(std::int64_t i, F f) const {
    const std::int64_t c = i % spec_.channels;
    const std::int64_t ow = i / spec_.channels % spec_.out_width();
    const std::int64_t oh =
        i / spec_.channels / spec_.out_width() % spec_.out_height();
    const std::int64_t n =
        i / spec_.channels / spec_.out_width() / spec_.out_height();
    for (std::int64_t kh = 0; kh < spec_.kernel[0]; ++kh)
      for (std::int64_t kw = 0; kw < spec_.kernel[1]; ++kw) {
        const std::int64_t ih = oh * spec_.stride[0] + kh - spec_.pad_begin[0];
        const std::int64_t iw = ow * spec_.stride[1] + kw - spec_.pad_begin[1];
        if (ih < 0 || ih >= spec_.height || iw < 0 || iw >= spec_.width)
          continue;
        f(((n * spec_.height + ih) * spec_.width + iw) * spec_.channels + c);
      }
  }

  double window_size(std::int64_t i) const {
    double size = 0;
    for_each_in_window(i, [&](auto) { ++size; });
    return size;
  }

  double average(const View& x, std::int64_t i) const {
    double sum = 0;
    for_each_in_window(i, [&](auto at) { sum += x.as<double>()[at]; });
    return sum / window_size(i);
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

  Pool2dSpec spec_;
  std::int64_t max_batch_;
  // Of the last forward() for training: its batch, and each maximum's place.
  std::int64_t trained_ = 0;
  std::vector<std::int64_t> chosen_;
};

}  // namespace

std::unique_ptr<tensor::Pool2d> ReferenceDevice::pool2d(
    const tensor::Pool2dSpec& spec, std::int64_t max_batch) {
  return std::make_unique<ReferencePool2d>(spec, max_batch);
}

}  // namespace dl::device
