// Bilinear upsampling: each pixel of y is made of four of x.

#include <algorithm>
#include <cmath>

#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {
namespace {

using tensor::DType;

// Calls f(y, x, share) for each element of y and the four that it is made of.
template <typename F>
void for_each_share(const Upsampling& u, F f) {
  const std::int64_t height = u.height * u.factor[0];
  const std::int64_t width = u.width * u.factor[1];
  for (std::int64_t y = 0; y < u.n * height * width * u.channels; ++y) {
    const std::int64_t c = y % u.channels, pixel = y / u.channels;
    const std::int64_t n = pixel / width / height;
    const auto place = [](std::int64_t at, std::int64_t factor) {
      return (static_cast<double>(at) + 0.5) / static_cast<double>(factor) -
             0.5;
    };
    const double h = place(pixel / width % height, u.factor[0]);
    const double w = place(pixel % width, u.factor[1]);
    for (int k = 0; k < 4; ++k) {
      const double i = std::floor(h) + (k >> 1), j = std::floor(w) + (k & 1);
      const double share = (1 - std::abs(h - i)) * (1 - std::abs(w - j));
      const auto inside = [](double at, std::int64_t extent) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0,
                                        extent - 1);
      };
      f(y,
        ((n * u.height + inside(i, u.height)) * u.width + inside(j, u.width)) *
                u.channels +
            c,
        share);
    }
  }
}

}  // namespace

void ReferenceDevice::upsample_bilinear(View y, View x) {
  const Upsampling u = check_upsampling(DType::kF64, y, x);
  std::fill_n(y.as<double>(), y.elements(), 0.0);
  for_each_share(u, [&](auto to, auto from, double share) {
    y.as<double>()[to] += share * x.as<double>()[from];
  });
}

void ReferenceDevice::upsample_bilinear_gradient(View dx, View dy) {
  const Upsampling u = check_upsampling(DType::kF64, dy, dx);
  std::fill_n(dx.as<double>(), dx.elements(), 0.0);
  for_each_share(u, [&](auto from, auto to, double share) {
    dx.as<double>()[to] += share * dy.as<double>()[from];
  });
}

}  // namespace dl::device
