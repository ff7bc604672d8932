// Normally distributed numbers: Philox4x32-10 over positions (base/philox.h),
// whose first two words make one number (Box and Muller 1958).

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/math.h"
#include "libcore/device/cpu/simd.h"

namespace dl::device {
namespace kernels {

struct Words {
  std::uint32_t first, second;
};

DL_INLINE std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(a) * b >> 32);
}

DL_INLINE Words philox_words(std::uint32_t c0, std::uint32_t c1,
                             std::uint32_t c2, std::uint32_t c3,
                             std::uint32_t low, std::uint32_t high) {
  constexpr std::uint32_t kFirst = 0xD2511F53, kSecond = 0xCD9E8D57;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t a = high_product(c0, kFirst);
    const std::uint32_t b = high_product(c2, kSecond);
    const std::uint32_t c0_low = c0 * kFirst, c2_low = c2 * kSecond;
    c0 = b ^ c1 ^ low;
    c1 = c2_low;
    c2 = a ^ c3 ^ high;
    c3 = c0_low;
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return {c0, c1};
}

struct NormalDraws {
  float mean, deviation;
  std::uint64_t key, stream;
};

DL_VECTOR void draw_normal(float* y, const NormalDraws& d, std::uint64_t first,
                           std::int64_t n) {
  const auto low = static_cast<std::uint32_t>(first);
  const auto high = static_cast<std::uint32_t>(first >> 32);
  const auto stream = static_cast<std::uint32_t>(d.stream);
  const auto above = static_cast<std::uint32_t>(d.stream >> 32);
  const auto key = static_cast<std::uint32_t>(d.key);
  const auto key_above = static_cast<std::uint32_t>(d.key >> 32);
  const float mean = d.mean, deviation = d.deviation;
  DL_INDEPENDENT
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(n); ++i) {
    const std::uint32_t place = low + static_cast<std::uint32_t>(i);
    const Words words = philox_words(place, high + (place < low ? 1u : 0u),
                                     stream, above, key, key_above);
    // Signed, which is what vectors turn into floats.
    const auto u = static_cast<std::int32_t>(words.first >> 8);
    const auto v = static_cast<std::int32_t>(words.second >> 8);
    const float radius =
        std::sqrt(-2.0f * log_of(static_cast<float>(u + 1) * 0x1p-24f));
    y[i] = mean + deviation *
                      (radius * cos_of_turns(static_cast<float>(v) * 0x1p-24f));
  }
}

}  // namespace kernels

void CpuDevice::normal(View y, double mean, double deviation, std::uint64_t key,
                       std::uint64_t stream, std::uint64_t first) {
  check_reals(tensor::DType::kF32, {y});
  constexpr std::int64_t kAtOnce = 1 << 20;  // positions count in 32 bits
  const kernels::NormalDraws draws{static_cast<float>(mean),
                                   static_cast<float>(deviation), key, stream};
  for (std::int64_t i = 0; i < y.elements(); i += kAtOnce)
    kernels::draw_normal(y.as<float>() + i, draws,
                         first + static_cast<std::uint64_t>(i),
                         std::min(kAtOnce, y.elements() - i));
}

}  // namespace dl::device
