// The first words of Philox4x32-10 (base/philox.h), for kernels.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_PHILOX_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_PHILOX_H_

#include <cstdint>

#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

struct Words {
  std::uint32_t first, second;
};

DL_BOTH inline Words philox(std::uint64_t key, std::uint64_t lo,
                            std::uint64_t hi) {
  auto c0 = static_cast<std::uint32_t>(lo);
  auto c1 = static_cast<std::uint32_t>(lo >> 32);
  auto c2 = static_cast<std::uint32_t>(hi);
  auto c3 = static_cast<std::uint32_t>(hi >> 32);
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
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
  return {c0, c1};
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_PHILOX_H_
