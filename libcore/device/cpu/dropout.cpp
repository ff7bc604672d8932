// Dropout masks: Philox4x32-10 (base/philox.h), written so that it vectorises
// over positions.  Only the first of its four words is drawn.

#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/vectorize.h"

namespace dl::device {
namespace kernels {

DL_INLINE std::uint32_t philox_first(std::uint32_t k0, std::uint32_t k1,
                                     std::uint64_t lo, std::uint64_t hi) {
  auto c0 = static_cast<std::uint32_t>(lo);
  auto c1 = static_cast<std::uint32_t>(lo >> 32);
  auto c2 = static_cast<std::uint32_t>(hi);
  auto c3 = static_cast<std::uint32_t>(hi >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(b);
    c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(a);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c0;
}

// Kept where the draw is below `bound`, which may be 2^32.
DL_VECTOR void dropout_mask(float* mask, float kept, std::uint64_t bound,
                            std::uint64_t key, std::uint64_t stream,
                            std::uint64_t first, std::int64_t n) {
  const auto k0 = static_cast<std::uint32_t>(key);
  const auto k1 = static_cast<std::uint32_t>(key >> 32);
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t draw =
        philox_first(k0, k1, first + static_cast<std::uint64_t>(i), stream);
    mask[i] = draw < bound ? kept : 0.0f;
  }
}

}  // namespace kernels

void CpuDevice::dropout_mask(View mask, double keep, std::uint64_t key,
                             std::uint64_t stream, std::uint64_t first) {
  check_reals(tensor::DType::kF32, {mask});
  // draw * 2^-32 < keep for a whole number `draw`.
  const auto bound = static_cast<std::uint64_t>(std::ceil(keep * 0x1p32));
  kernels::dropout_mask(mask.as<float>(), static_cast<float>(1 / keep), bound,
                        key, stream, first, mask.elements());
}

}  // namespace dl::device
