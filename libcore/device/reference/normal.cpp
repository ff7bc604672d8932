// Normally distributed numbers (Box and Muller 1958).

#include <cmath>
#include <numbers>

#include "libcore/base/philox.h"
#include "libcore/device/check.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

void ReferenceDevice::normal(View y, double mean, double deviation,
                             std::uint64_t key, std::uint64_t stream,
                             std::uint64_t first) {
  check_reals(tensor::DType::kF64, {y});
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const auto words =
        philox(key, first + static_cast<std::uint64_t>(i), stream);
    const double u = ((words[0] >> 8) + 1) * 0x1p-24;
    const double v = (words[1] >> 8) * 0x1p-24;
    y.as<double>()[i] = mean + deviation * std::sqrt(-2 * std::log(u)) *
                                   std::cos(2 * std::numbers::pi * v);
  }
}

}  // namespace dl::device
