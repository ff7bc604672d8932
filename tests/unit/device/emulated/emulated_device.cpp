// Opening of the emulated cuda device.

#include "tests/unit/device/emulated/emulated_device.h"

#include "libcore/device/cuda/cuda_device.h"
#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device {

std::unique_ptr<device::Device> emulated_device(device::Precision precision) {
  return std::make_unique<cuda::CudaDevice>(cuda::emulated_api(), 0, precision,
                                            cuda::kEmulatedThreads);
}

}  // namespace dl::device
