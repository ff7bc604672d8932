// Random numbers: each a function of its place, as on any other device.

#include <cmath>
#include <cstdint>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/philox.h"
#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

void CudaDevice::dropout_mask(View mask, double keep, std::uint64_t key,
                              std::uint64_t stream, std::uint64_t first) {
  check_reals({mask});
  const Reals to(mask);
  // draw * 2^-32 < keep for a whole number `draw`.
  const auto bound = static_cast<std::uint64_t>(std::ceil(keep * 0x1p32));
  const auto kept = static_cast<float>(1 / keep);
  each(stream_, mask.elements(), [=] DL_DEVICE(std::int64_t i) {
    const Words words =
        philox(key, first + static_cast<std::uint64_t>(i), stream);
    to.set(i, words.first < bound ? kept : 0.0F);
  });
}

void CudaDevice::normal(View y, double mean, double deviation,
                        std::uint64_t key, std::uint64_t stream,
                        std::uint64_t first) {
  check_reals({y});
  const Reals to(y);
  const auto middle = static_cast<float>(mean);
  const auto width = static_cast<float>(deviation);
  each(stream_, y.elements(), [=] DL_DEVICE(std::int64_t i) {
    const Words words =
        philox(key, first + static_cast<std::uint64_t>(i), stream);
    const float u = static_cast<float>((words.first >> 8) + 1) * 0x1p-24F;
    const float v = static_cast<float>(words.second >> 8) * 0x1p-24F;
    // cos(2 pi v) by the sine of what is left to a quarter turn, which is
    // exact before it is multiplied.
    const float turns = v < 0.5F ? 0.25F - v : v - 0.75F;
    to.set(i, middle + width * (std::sqrt(-2 * std::log(u)) *
                                std::sin(6.28318531F * turns)));
  });
}

}  // namespace dl::device::cuda
